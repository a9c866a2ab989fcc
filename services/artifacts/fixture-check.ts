import { z } from 'zod';
import {
  type FixtureState,
  NEXT_ACTION,
  PortableFixture,
  RelativePath,
  STATES,
} from './fixture.ts';

/**
 * A fixture as far as the check needs it. What is expected may be any state, so that a wrong
 * expectation is reported beside what is found instead of being refused.
 */
export const CheckableFixture = z.object({
  artifact: PortableFixture.shape.artifact,
  cases: z
    .array(
      z.object({
        /** Also the name of the case's folder. */
        name: RelativePath.refine((name) => !name.includes('/') && name !== '.', {
          error: 'must be a single name',
        }),
        expected: z.object({
          state: z.enum(STATES),
          next_action: z.string(),
          operations_issued: z.int(),
        }),
        completion_evidence_path: RelativePath.optional(),
      }),
    )
    .min(1)
    .max(200),
});
export type CheckableFixture = z.output<typeof CheckableFixture>;
type Case = CheckableFixture['cases'][number];

/** What stands in the folder of a case. */
export interface Observed {
  /** Null where there is no such file. `sha256` is null where the size alone already differs. */
  artifact: { bytes: number; sha256: string | null } | null;
  /** Whether the ledger holds an operation whose outcome nobody knows. */
  unknownOutcome: boolean;
  /** Whether anything is at the completion evidence's path. */
  evidence: boolean;
  /** What a person should know of how this was read. */
  remarks: readonly string[];
}

interface Found {
  state: FixtureState;
  next_action: (typeof NEXT_ACTION)[FixtureState];
  /** The check reads and never executes. */
  operations_issued: 0;
}

interface CheckedCase {
  name: string;
  expected: Case['expected'];
  found: Found;
  as_expected: boolean;
  remarks: readonly string[];
}

export interface FixtureReport {
  as_expected: boolean;
  cases: CheckedCase[];
}

/** Pure: the state of each case, from what stands in its folder, beside what was expected. */
export function checkFixture(
  fixture: CheckableFixture,
  observed: ReadonlyMap<string, Observed>,
): FixtureReport {
  const cases = fixture.cases.map((declared): CheckedCase => {
    const seen = observed.get(declared.name);
    if (!seen) throw new Error(`case ${declared.name} was not observed`);
    const { expected } = declared;
    const state = stateOf(fixture.artifact, declared, seen);
    const found: Found = { state, next_action: NEXT_ACTION[state], operations_issued: 0 };
    const asExpected =
      expected.state === found.state &&
      expected.next_action === found.next_action &&
      expected.operations_issued === found.operations_issued;
    const { name } = declared;
    return { name, expected, found, as_expected: asExpected, remarks: seen.remarks };
  });
  return { as_expected: cases.every((checked) => checked.as_expected), cases };
}

/** The first state that holds, in the order of `STATES`. */
function stateOf(
  artifact: CheckableFixture['artifact'],
  declared: Case,
  { artifact: seen, unknownOutcome, evidence }: Observed,
): FixtureState {
  if (seen === null) return 'missing_artifact';
  if (seen.bytes !== artifact.bytes || seen.sha256 !== artifact.sha256) return 'integrity_mismatch';
  if (unknownOutcome) return 'reconciliation_required';
  if (declared.completion_evidence_path !== undefined && !evidence) return 'completion_unproven';
  return 'ready';
}
