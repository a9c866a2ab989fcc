import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { brief, changed, handoff, result } from '../../../harness/packets.ts';
import { startService } from '../../support/service.ts';

const long = (length: number) => 'x'.repeat(length);
const many = (count: number, value: unknown = 'x') => Array.from({ length: count }, () => value);
const url = 'https://example.org/x';

type Fault = readonly [path: string, value: unknown, issue?: string];

/**
 * Faults of every kind of packet: the path, the value there (undefined: removed), and the path of
 * the issue.
 */
const commonFaults: readonly Fault[] = [
  ['schema', 'service.context-packet.v2'],
  ['kind', 'other'],
  ['title', ''],
  ['title', ' \n\t'],
  ['title', '👋'.repeat(161)],
  ['summary', ''],
  ['summary', long(2001)],
  ['visibility', 'members'],
  ['publish_consent', false],
  ['publish_consent', 1],
  ['policy_version', 'service-public-v2'],
  ['reuse_terms', ''],
  ['reuse_terms', long(501)],
  ['supersedes_id', 'no'],
  ['supersedes_id', ''],
  ['provenance', null],
  ['provenance.claim_type', ''],
  ['provenance.claim_type', 7],
  ['provenance.observed_at', '2026-09-12'],
  ['provenance.observed_at', '2026-09-12T10:00:00.000+02:00'],
  ['provenance.observed_at', 1789207200],
  ['provenance.source_refs', many(51, url)],
  ['provenance.source_refs', ['http://example.org'], 'provenance.source_refs.0'],
  ['provenance.source_refs', ['https://a:b@example.org'], 'provenance.source_refs.0'],
  ['provenance.source_refs', url],
  ['content', []],
  ['content', 'text'],
];

const COMMON_FIELDS = [
  ...['schema', 'kind', 'title', 'summary', 'visibility', 'publish_consent', 'policy_version'],
  ...['reuse_terms', 'supersedes_id', 'provenance', 'content'],
  ...['provenance.claim_type', 'provenance.observed_at', 'provenance.source_refs'],
];

const briefFaults: readonly Fault[] = [
  ['content.body', ''],
  ['content.body', long(20_001)],
  ['content.format', 'html'],
  ['content.body', undefined],
  ['content.format', undefined],
];

const resultFaults: readonly Fault[] = [
  ['content.outcome', ''],
  ['content.outcome', long(4001)],
  ['content.evidence', many(51, { description: 'x' })],
  ['content.evidence.0.description', ''],
  ['content.evidence.0.sha256', 'A'.repeat(64)],
  ['content.evidence.0.sha256', 'a'.repeat(63)],
  ['content.evidence.0.source_ref', 'ftp://example.org'],
  ['content.evidence.0.description', undefined],
  ['content.outcome', undefined],
  ['content.evidence', undefined],
];

const FREE_TEXTS = [
  ...['objective', 'author_example', 'baseline_inputs.handoff_json'],
  ...['baseline_inputs.input_origin', 'portable_fixture.schema', 'portable_fixture.purpose'],
  ...['portable_fixture.cases.0.mutation', 'saved_cursor_return_path.instruction'],
  ...['saved_cursor_return_path.scope', 'scope.authorization_boundary', 'scope.mode'],
];
const LISTS = [
  ...['acceptance_criteria', 'scope.permitted', 'portable_fixture.trust_assumptions'],
  'baseline_inputs.artifact_files',
];
const PATHS = [
  ...['baseline_inputs.operation_ledger', 'portable_fixture.artifact.path'],
  'portable_fixture.cases.3.completion_evidence_path',
];
const CONTENT_FIELDS = [
  ...[...FREE_TEXTS, ...LISTS, ...PATHS.slice(0, 2), 'attribution', 'baseline_inputs'],
  ...['portable_fixture', 'saved_cursor_return_path', 'scope', 'portable_fixture.artifact'],
  ...['portable_fixture.artifact.bytes', 'portable_fixture.artifact.sha256'],
  ...['portable_fixture.cases', 'portable_fixture.external_execution'],
  ...['portable_fixture.cases.0.name', 'portable_fixture.cases.0.expected'],
  ...['state', 'next_action', 'operations_issued'].map(
    (field) => `portable_fixture.cases.0.expected.${field}`,
  ),
];
const OUTSIDE = ['/etc/passwd', '../x', 'a/../../x', '', 'C:\\x', 'a\\..\\x', 'a\nb'];

const fixture = 'content.portable_fixture';
const cases = handoff().content.portable_fixture.cases;
const handoffFaults: readonly Fault[] = [
  ...CONTENT_FIELDS.map((field): Fault => [`content.${field}`, undefined]),
  ...FREE_TEXTS.flatMap((field): Fault[] => [
    [`content.${field}`, long(8001)],
    [`content.${field}`, 7],
  ]),
  ...LISTS.flatMap((field): Fault[] => [
    [`content.${field}`, many(201)],
    [`content.${field}`, [long(8001)], `content.${field}.0`],
    [`content.${field}`, 'x'],
  ]),
  ...PATHS.flatMap((field) => OUTSIDE.map((path): Fault => [`content.${field}`, path])),
  ['content.baseline_inputs.artifact_files', ['../x'], 'content.baseline_inputs.artifact_files.0'],
  ['content.attribution', { author: 7 }, 'content.attribution.author'],
  ['content.attribution', ['x']],
  ['content.attribution', Object.fromEntries(many(201).map((_, i) => [`k${i}`, 'x']))],
  [`${fixture}.artifact.bytes`, -1],
  [`${fixture}.artifact.bytes`, 1.5],
  [`${fixture}.artifact.sha256`, 'A'.repeat(64)],
  [`${fixture}.external_execution`, 'no'],
  [`${fixture}.cases`, cases.slice(0, 4)],
  [`${fixture}.cases`, [...cases, cases[0]]],
  [`${fixture}.cases`, [cases[1], cases[0], ...cases.slice(2)], `${fixture}.cases.0.name`],
  [`${fixture}.cases.0.name`, 'other'],
  [`${fixture}.cases.0.expected.state`, 'missing_artifact'],
  [`${fixture}.cases.1.expected.state`, 'ready'],
  [`${fixture}.cases.2.expected.state`, 'reconciliation_required'],
  [`${fixture}.cases.3.expected.state`, 'ready'],
  [`${fixture}.cases.4.expected.state`, 'completion_unproven'],
  [`${fixture}.cases.0.expected.next_action`, 'wait'],
  [`${fixture}.cases.0.expected.operations_issued`, 1],
];

/** Objects that accept no unknown members. */
const CLOSED = {
  brief: ['extra', 'provenance.extra', 'content.extra'],
  result: ['content.extra', 'content.evidence.0.extra'],
  handoff: [
    ...['content', `${fixture}`, `${fixture}.artifact`, `${fixture}.cases.0`],
    ...[`${fixture}.cases.0.expected`, 'content.scope', 'content.baseline_inputs'],
    'content.saved_cursor_return_path',
  ].map((path) => `${path}.extra`),
};

for (const [kind, make, faults] of [
  [
    'brief',
    brief,
    [...commonFaults, ...COMMON_FIELDS.map((path): Fault => [path, undefined]), ...briefFaults],
  ],
  ['result', result, resultFaults],
  ['handoff', handoff, handoffFaults],
] as const)
  t.test(`refuses every fault in a ${kind} and names the field`, async (t) => {
    const service = await startService(t);
    const ada = await newAgent(service);
    for (const [path, value, issue = path] of faults) {
      const answer = await ada.call('POST', '/api/v1/artifacts', changed(make(), path, value));
      const fault = `${path}: ${JSON.stringify(value)?.slice(0, 60)}`;
      t.equal(answer.status, 400, fault);
      t.equal(answer.body.status, 'invalid_request', fault);
      t.ok(
        answer.body.error.issues.some((found: { path: string }) => found.path === issue),
        `${fault}: ${JSON.stringify(answer.body.error.issues)}`,
      );
    }
    for (const path of CLOSED[kind]) {
      const answer = await ada.call('POST', '/api/v1/artifacts', changed(make(), path, 1));
      t.equal(answer.status, 400, path);
    }
    const { rows } = await service.database.pool.query('SELECT count(*)::int AS n FROM artifacts');
    t.equal(rows[0].n, 0);
  });

t.test('accepts values at the limits', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  const accepted: readonly [packet: object, path: string, value: unknown][] = [
    [brief(), 'title', '👋'.repeat(160)],
    [brief(), 'summary', long(2000)],
    [brief(), 'reuse_terms', long(500)],
    [brief(), 'provenance.observed_at', null],
    [brief(), 'provenance.source_refs', many(50, url)],
    [brief(), 'content.body', long(20_000)],
    [brief(), 'content.format', 'text'],
    [result(), 'content.outcome', long(4000)],
    [result(), 'content.evidence', many(50, { description: 'x' })],
    [result(), 'content.evidence', []],
    [handoff(), 'content.objective', long(8000)],
    [handoff(), 'content.acceptance_criteria', many(200)],
    [handoff(), 'content.attribution', {}],
    [handoff(), 'content.portable_fixture.artifact.bytes', 0],
    [handoff(), 'content.portable_fixture.cases.3.completion_evidence_path', undefined],
    [handoff(), 'content.portable_fixture.artifact.path', './a b/..c/d..'],
  ];
  for (const [packet, path, value] of accepted) {
    const answer = await ada.call('POST', '/api/v1/artifacts', changed(packet, path, value));
    t.equal(answer.status, 201, `${path}: ${answer.text.slice(0, 300)}`);
  }
});
