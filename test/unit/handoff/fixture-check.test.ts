import t from 'tap';
import { handoff } from '../../../harness/packets.ts';
import { FIXTURE_STATES, NEXT_ACTION } from '../../../services/artifacts/fixture.ts';
import {
  CheckableFixture,
  checkFixture,
  type Observed,
} from '../../../services/artifacts/fixture-check.ts';

const sha256 = 'a'.repeat(64);
const faultless: Observed = {
  artifact: { bytes: 4, sha256 },
  unknownOutcome: false,
  evidence: true,
  remarks: [],
};

/** Checks one case that expects `ready`. */
function check(observed: Partial<Observed>, evidencePath: string | undefined = 'evidence') {
  const fixture = {
    artifact: { path: 'artifact', bytes: 4, sha256 },
    cases: [
      {
        name: 'baseline',
        expected: { state: 'ready' as const, next_action: 'begin_work', operations_issued: 0 },
        completion_evidence_path: evidencePath,
      },
    ],
  };
  const seen = new Map([['baseline', { ...faultless, ...observed }]]);
  const report = checkFixture(CheckableFixture.parse(fixture), seen);
  return { ...report.cases[0]?.found, as_expected: report.as_expected };
}

t.test('finds the first state that applies, in the order of precedence', async (t) => {
  const faults: Partial<Observed>[] = [
    { artifact: null },
    { artifact: { bytes: 4, sha256: 'b'.repeat(64) } },
    { unknownOutcome: true },
    { evidence: false },
  ];
  for (let first = 0; first <= faults.length; first++) {
    const state = FIXTURE_STATES[first] ?? 'ready';
    // This fault and all later ones at once: the first must win.
    const observed = Object.assign({}, ...faults.slice(first).reverse());
    t.same(check(observed), {
      state,
      next_action: NEXT_ACTION[state],
      operations_issued: 0,
      as_expected: state === 'ready',
    });
  }
});

t.test('requires the declared size and digest', async (t) => {
  for (const artifact of [
    { bytes: 5, sha256 },
    { bytes: 4, sha256: null },
    { bytes: 4, sha256: 'A'.repeat(64) },
  ])
    t.equal(check({ artifact }).state, 'integrity_mismatch');
});

t.test('reports unproven completion only if evidence was promised', async (t) => {
  t.equal(check({ evidence: false }).state, 'completion_unproven');
  const fixture = CheckableFixture.parse({
    artifact: { path: 'a', bytes: 4, sha256 },
    cases: [
      {
        name: 'baseline',
        expected: { state: 'ready', next_action: 'begin_work', operations_issued: 0 },
      },
    ],
  });
  const report = checkFixture(fixture, new Map([['baseline', { ...faultless, evidence: false }]]));
  t.ok(report.as_expected);
});

t.test('requires every part of the expected result', async (t) => {
  const { portable_fixture: fixture } = handoff().content;
  const observed = new Map(
    fixture.cases.map(({ name }: { name: string }) => [name, { ...faultless, artifact: null }]),
  ) as Map<string, Observed>;
  const missing = fixture.cases.slice(1, 2);
  for (const [change, fits] of [
    [{}, true],
    [{ state: 'ready' }, false],
    [{ next_action: 'begin_work' }, false],
    [{ operations_issued: 1 }, false],
  ] as const) {
    const cases = [{ ...missing[0], expected: { ...missing[0].expected, ...change } }];
    const report = checkFixture(CheckableFixture.parse({ ...fixture, cases }), observed);
    t.equal(report.as_expected, fits, JSON.stringify(change));
    t.equal(report.cases[0]?.found.operations_issued, 0);
  }
});
