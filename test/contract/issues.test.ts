import t from 'tap';
import { z } from 'zod';
import { asking, callA2a } from '../../harness/a2a.ts';
import { newAgent } from '../../harness/agent.ts';
import { toIssues } from '../../platform/http/issues.ts';
import { startService } from '../support/service.ts';

interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  options?: z.ZodType[];
  items?: z.ZodType[];
  element?: z.ZodType;
  values?: unknown[];
  innerType?: z.ZodType;
  in?: z.ZodType;
  valueType?: z.ZodType;
}

/** Values of the shape of a schema, one per branch of its unions; leaves may be invalid. */
function shapes(schema: z.ZodType): unknown[] {
  const { type, ...def } = schema._zod.def as unknown as Definition;
  const inner = def.innerType ?? def.in;
  if (inner) return shapes(inner);
  if (def.options) return def.options.flatMap(shapes);
  if (def.element) return shapes(def.element).map((item) => [item]);
  if (def.items) return [def.items.map((item) => shapes(item)[0])];
  if (def.valueType) return [{ name: shapes(def.valueType)[0] }];
  if (def.shape) {
    const fields = Object.entries(def.shape).map(([name, field]) => ({
      name,
      values: shapes(field),
    }));
    const most = Math.max(1, ...fields.map(({ values }) => values.length));
    return Array.from({ length: most }, (_, index) =>
      Object.fromEntries(fields.map(({ name, values }) => [name, values[index] ?? values[0]])),
    );
  }
  return [type === 'literal' ? def.values?.[0] : 'x'];
}

const WRONG = [
  undefined,
  null,
  true,
  '',
  ' ',
  'x'.repeat(30_000),
  -1,
  0.5,
  1e300,
  [],
  Array(400).fill('x'),
  {},
  { unknown_a: 1, unknown_b: 2 },
];

/** The value with one invalid value at each of its places, one place at a time. */
function* spoilt(value: unknown): Generator<unknown> {
  yield* WRONG;
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { ...value, unknown_a: 1, unknown_b: 2 };
  for (const [name, item] of Object.entries(value))
    for (const wrong of spoilt(item))
      yield Array.isArray(value)
        ? value.map((other, index) => (index === Number(name) ? wrong : other))
        : { ...value, [name]: wrong };
}

const ZOD = /invalid|too (small|big)|unrecognized|expected|received/i;
const PREDICATE = /^(is|must|has|does) /;

const service = await startService(t);

t.test('words every issue of every route itself', async (t) => {
  let issues = 0;
  for (const { id, route } of service.operations.values()) {
    if (route.transport) continue;
    for (const schema of [route.params, route.query, route.body]) {
      if (!schema) continue;
      for (const shape of shapes(schema))
        for (const wrong of spoilt(shape)) {
          const { error } = schema.safeParse(wrong);
          for (const { path, message } of error ? toIssues(error) : []) {
            issues++;
            if (ZOD.test(message) || !PREDICATE.test(message) || /[.]$/.test(message))
              t.fail(`${id}: ${path} ${message}`);
            if (message.length >= 600) t.fail(`${id}: ${path} has a truncated message`);
          }
        }
    }
  }
  t.ok(issues > 5000, `${issues} issues`);
});

t.test('reports each unknown field as its own issue with its path', async (t) => {
  const body = { subject: { type: 'note', a: 1, b: 2 }, reason: 'spam', c: 3 };
  const agent = await newAgent(service);
  const answer = await agent.call('POST', '/api/v1/reports', body);
  t.equal(answer.status, 400);
  t.same(answer.body.error.issues, [
    { path: 'subject.id', message: 'is required' },
    { path: 'subject.a', message: 'is not a known field' },
    { path: 'subject.b', message: 'is not a known field' },
    { path: 'c', message: 'is not a known field' },
  ]);
});

t.test('names the fault in the only variant whose fields are all there', async (t) => {
  const link = z.object({ url: z.string(), title: z.string() });
  const { error } = z.union([z.object({ text: z.string() }), link]).safeParse({ text: 1 });
  t.match(error && toIssues(error), [{ path: 'text' }]);
});

t.test('hides an unknown field that looks like a key', async (t) => {
  const key = 'ab'.repeat(32);
  const answer = await service.call('POST', '/api/membership/logout', { body: { [key]: 1 } });
  t.same(answer.body.error.issues, [{ path: '(hidden)', message: 'is not a known field' }]);
});

t.test('words issues alike over A2A and MCP', async (t) => {
  const agent = await newAgent(service);
  const a2a = await callA2a(service, agent, asking('case.list', { state: 'x' }));
  t.match(a2a.body.error.data[0].fieldViolations, [
    {
      field: 'state',
      description: 'must be one of: open, claimed, submitted, accepted, withdrawn',
    },
  ]);
  const params = { name: 'list_cases', arguments: { limit: 'x', extra: 1 } };
  const mcp = await service.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  t.match(mcp.text, /must be an integer/);
  t.match(mcp.text, /extra: is not a known field/);
});
