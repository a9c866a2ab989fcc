export default {
  service: {
    input: 'openapi.json',
    output: {
      target: 'client/service.ts',
      client: 'fetch',
      headers: true,
      baseUrl: { getBaseUrlFromSpecification: true },
    },
  },
};
