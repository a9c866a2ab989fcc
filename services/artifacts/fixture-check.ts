import { z } from 'zod';
import {
  FIXTURE_STATES,
  type FixtureState,
  NEXT_ACTION,
  PortableFixture,
  RelativePath,
} from './fixture.ts';

/**
 * The part of a fixture that the check needs. Any state is valid as an expectation, so that the
 * report shows a wrong expectation beside the result instead of rejecting the fixture.
 */
export const CheckableFixture = z.object({
  artifact: PortableFixture.shape.artifact,
  cases: z
    .array(
      z.object({
        /** The name of the case and of its folder. */
        name: RelativePath.refine((name) => !name.includes('/') && name !== '.', {
          error: 'must be a single name',
        }),
        expected: z.object({
          state: z.enum(FIXTURE_STATES),
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

/** The observed contents of a case's folder. */
export interface Observed {
  /** Null if the file does not exist. `sha256` is null if the size already differs. */
  artifact: { bytes: number; sha256: string | null } | null;
  /** Whether the ledger lists an operation with an unknown outcome. */
  unknownOutcome: boolean;
  /** Whether a file or folder exists at the path of the completion evidence. */
  evidence: boolean;
  /** Notes for the reader of the report, such as links that were not followed. */
  remarks: readonly string[];
}

interface Found {
  state: FixtureState;
  next_action: (typeof NEXT_ACTION)[FixtureState];
  /** Always 0: the check only reads files and executes nothing. */
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

/**
 * Compares the observed state of each case with its expected state. A pure function: read the files
 * with `observeFixture` first. Throws if a case was not observed.
 */
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

/** Returns the first state in the order of `STATES` that applies. */
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
