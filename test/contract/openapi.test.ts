import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { openApiDocument } from '../../services/http/openapi.ts';
import { REASONS } from '../../services/http/reasons.ts';
import { startService } from '../harness/service.ts';

const GOLDEN = join(import.meta.dirname, 'openapi.golden.json');

interface Media {
  schema?: object;
  example?: unknown;
}

interface Part {
  $ref?: string;
  content?: Record<string, Media>;
}

interface Operation {
  operationId: string;
  requestBody?: Part;
  responses: Record<string, Part>;
}

interface Handoff {
  properties: { content: { properties: { attribution: { maxProperties?: number } } } };
}

interface Refused {
  properties?: { status?: { enum?: string[] } };
}

interface Example {
  status: string;
  error?: { code: string };
}

const service = await startService(t);
const ADDRESS = 'https://service.test';
const document = openApiDocument(service.features, ADDRESS);

t.test('the document is the golden one; `npm run openapi` writes it anew', async (t) => {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (process.env.UPDATE_GOLDEN) writeFileSync(GOLDEN, text);
  // Compared as text first: a difference of thousands of lines says less than this one.
  const golden = readFileSync(GOLDEN, 'utf8');
  if (text !== golden) t.same(JSON.parse(text), JSON.parse(golden));
  t.ok(text === golden, 'run `npm run openapi`, and look at what changed');
});

t.test('what the service serves is this document, at its own address', async (t) => {
  const { body } = await service.call('GET', '/openapi.json');
  const own = JSON.stringify(document).replaceAll(ADDRESS, service.baseUrl);
  t.same(body, JSON.parse(own));
});

t.test(
  'every HEAD, what other methods are told, and every reason of a conflict are there',
  async (t) => {
    const items = Object.entries(document.paths ?? {});
    for (const [path, item] of items) {
      t.equal(item.head?.operationId, item.get && `${item.get.operationId}.head`, path);
      for (const { operationId, responses } of Object.values(item) as Operation[])
        t.match(responses[405], { $ref: /405-method_not_allowed/ }, operationId);
      for (const answer of Object.values(item.head?.responses ?? {}) as Part[]) {
        const name = answer.$ref?.split('/').at(-1) ?? '';
        const part = answer.$ref ? document.components?.responses?.[name] : answer;
        t.notOk((part as Part).content, `HEAD ${path} has no body`);
      }
    }
    const error = document.components?.schemas?.Error as { properties: Record<string, object> };
    t.match(error.properties.reason, { enum: REASONS });
    t.match(error.properties, { current_state: Object, current_version: Object });
  },
);

t.test('the example of a refusal has one code, and it is one that it may have', async (t) => {
  const shared = Object.entries(document.components?.responses ?? {}) as [string, Part][];
  const refusals = shared.flatMap(([name, { content }]) => {
    t.match(name, /^\d{3}(-[a-z_]+)*$/);
    const { schema, example } = content?.['application/json'] ?? {};
    const { status: words } = (schema as Refused | undefined)?.properties ?? {};
    return words?.enum ? [{ name, words: words.enum, ...(example as Example) }] : [];
  });
  t.ok(refusals.length > 40);
  for (const { name, words, status, error = { code: status } } of refusals) {
    t.equal(error.code, status, name);
    t.ok(words.includes(status), name);
  }
});

t.test('no operation that is exempt from the budget is said to be refused by it', async (t) => {
  const said = Object.entries(document.paths ?? {}).flatMap(([path, item]) => {
    const answers = Object.values((item.post as Operation | undefined)?.responses ?? {});
    return answers.some(({ $ref }) => $ref?.includes('write_budget_exhausted')) ? [path] : [];
  });
  for (const { contract } of service.features)
    for (const { path, idempotency, budgetExempt } of Object.values(contract))
      if (path.startsWith('/api/v1/') && idempotency === 'required')
        t.equal(said.includes(path.replace(/:([a-z_]+)/g, '{$1}')), !budgetExempt, path);
});

t.test('a count of members that is checked is documented', async (t) => {
  const packet = document.components?.schemas?.HandoffPacket as Handoff | undefined;
  t.equal(packet?.properties.content.properties.attribution.maxProperties, 200);
});

t.test('every JSON body has an example, which its own schema takes', async (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'openapi', components: document.components });
  const operations = Object.values(document.paths ?? {}).flatMap(
    (item) => Object.values(item) as Operation[],
  );
  const shared = document.components?.responses as Record<string, Part>;
  let examples = 0;
  for (const { operationId, requestBody, responses } of operations)
    for (const [where, given] of [
      ['request', requestBody] as const,
      ...Object.entries(responses),
    ]) {
      const part = given?.$ref ? shared[given.$ref.split('/').at(-1) ?? ''] : given;
      const json = part?.content?.['application/json'];
      if (!json?.schema) continue;
      const schema = JSON.stringify(json.schema).replaceAll('"#/comp', '"openapi#/comp');
      const valid = ajv.compile(JSON.parse(schema));
      t.ok(json.example !== undefined, `${operationId} ${where} has an example`);
      const fits = valid(json.example);
      if (!fits) t.fail(`${operationId} ${where}: ${ajv.errorsText(valid.errors)}`);
      examples++;
    }
  t.ok(examples > operations.length);
});
