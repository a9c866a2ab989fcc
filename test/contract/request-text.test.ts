import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { openApiDocument } from '../../services/documents/openapi.ts';
import { startService } from '../support/service.ts';

interface Schema {
  type?: string;
  [keyword: string]: unknown;
}

/** Every string schema in a schema, with each `$ref` followed once. */
function* strings(
  schema: unknown,
  named: Record<string, unknown>,
  seen: Set<string>,
): Generator<Schema> {
  if (Array.isArray(schema)) for (const part of schema) yield* strings(part, named, seen);
  else if (typeof schema === 'object' && schema !== null) {
    const { $ref, type, examples: _, example: __, ...rest } = schema as Schema & { $ref?: string };
    const name = $ref?.split('/').at(-1);
    if (name && !seen.has(name)) yield* strings(named[name], named, seen.add(name));
    if (type === 'string') yield schema as Schema;
    else for (const part of Object.values(rest)) yield* strings(part, named, seen);
  }
}

t.test('refuses control characters in every text of a request, as documented', async (t) => {
  const { routes } = await startService(t);
  const document = openApiDocument(routes, 'http://localhost');
  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  const named = (document.components?.schemas ?? {}) as Record<string, unknown>;
  let looked = 0;
  for (const item of Object.values(document.paths ?? {}))
    for (const operation of Object.values(
      item as Record<string, { operationId: string } & Schema>,
    )) {
      const { operationId, requestBody, parameters = [] } = operation;
      // A2A answers in its own protocol; a form comes back without what it may not have.
      if (['a2a.call', 'pages.sign', 'pages.report_send'].includes(operationId)) continue;
      const queries = (parameters as { in: string; schema: unknown }[]).filter(
        (parameter) => parameter.in === 'query',
      );
      for (const schema of strings([requestBody, queries], named, new Set())) {
        looked++;
        const accepts = ajv.compile(schema);
        for (const text of ['a\u0000b', '\u0007', 'x\u009f'])
          if (accepts(text))
            t.fail(`${operationId}: ${JSON.stringify(text)} fits ${JSON.stringify(schema)}`);
      }
    }
  t.ok(looked > 100, `${looked} texts`);
});
