import { readFileSync } from 'node:fs';
import t from 'tap';
import { clientTypes, readClientTypes, TYPES_FILE } from '../contract/client-types.ts';

t.test('the types of the client are those of the OpenAPI document', async (t) => {
  t.equal(readFileSync(TYPES_FILE, 'utf8'), readClientTypes(), 'run `npm run client:types`');
});

t.test('writes answers open and requests closed', async (t) => {
  const state = { type: 'object', properties: { state: { type: 'string', enum: ['a', 'b'] } } };
  const json = ($ref: string) => ({
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${$ref}` } } },
  });
  const text = clientTypes({
    paths: {
      '/x': {
        post: { operationId: 'x.do', requestBody: json('Sent'), responses: { 200: json('Got') } },
      },
    },
    components: { schemas: { Sent: state, Got: state } },
  });
  t.match(text, /export type Sent = \{\n {2}state\?: "a" \| "b" \| undefined;/);
  t.match(text, /export type Got = \{\n {2}state\?: "a" \| "b" \| \(string & \{\}\) \| undefined;/);
});
