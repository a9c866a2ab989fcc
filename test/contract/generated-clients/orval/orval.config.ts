export default {
  service: {
    input: 'openapi.json',
    output: {
      target: 'client/service.ts',
      client: 'fetch',
      headers: true,
      baseUrl: { runtime: 'process.argv[2]' },
    },
  },
};
