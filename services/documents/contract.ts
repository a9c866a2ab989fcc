import { defineContract } from '../http/route.ts';

export const documentsContract = defineContract({
  'documents.openapi': {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This API in OpenAPI 3.1',
    description: 'Made from the same schemas that validate requests.',
    tag: 'documents',
    access: 'public',
    unknownQuery: 'ignored',
    replies: { 200: { description: 'The document', type: 'application/json' } },
    problems: [],
  },
});
