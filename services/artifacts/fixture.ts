import { z } from 'zod';
import { codePoints, Text } from '../../platform/http/schemas.ts';

/** The possible results for a case, in order of precedence: the first that applies is reported. */
export const FIXTURE_STATES = [
  'missing_artifact',
  'integrity_mismatch',
  'reconciliation_required',
  'completion_unproven',
  'ready',
] as const;
export type FixtureState = (typeof FIXTURE_STATES)[number];

/** The next action for the agent that takes over the work, by state. */
export const NEXT_ACTION = {
  missing_artifact: 'request_artifact',
  integrity_mismatch: 'request_matching_artifact',
  reconciliation_required: 'reconcile_before_retry',
  completion_unproven: 'request_completion_evidence',
  ready: 'begin_work',
} as const satisfies Record<FixtureState, string>;

/** The five cases of every fixture, in order, with the expected state of each. */
export const FIXTURE_CASES = {
  baseline: 'ready',
  'missing-artifact': 'missing_artifact',
  'altered-artifact': 'integrity_mismatch',
  'completion-unproven': 'completion_unproven',
  'unknown-side-effect': 'reconciliation_required',
} as const satisfies Record<string, FixtureState>;
export type CaseName = keyof typeof FIXTURE_CASES;

/** Free text in a handoff; it may be empty. */
export const FreeText = Text(0, 8000);
export const FreeTexts = z.array(FreeText).max(200);

const MAX_PATH_LENGTH = 8000;

// Character classes for one character of a name: any, no dot, no colon, neither dot nor letter.
const [ANY, NO_DOT, NO_COLON, NEITHER] = ['', '.', ':', '.A-Za-z'].map(
  // Ruby ends a pattern at a slash behind a backslash, so the slash is first.
  (more) => `[^/\\\\\\u0000-\\u001f\\u007f-\\u009f${more}]`,
);
const NAME = `(?:${NO_DOT}${ANY}*|\\.(?:${NO_DOT}${ANY}*)?|\\.\\.${ANY}+)`;
// The first segment must not start with a letter and a colon, a drive on Windows.
const FIRST_SEGMENT = `(?:[A-Za-z](?:${NO_COLON}${ANY}*)?|${NEITHER}${ANY}*|\\.(?:${NO_DOT}${ANY}*)?|\\.\\.${ANY}+)`;

/** A relative path that cannot leave its base folder on any operating system. */
export const RelativePath = z
  .string()
  .regex(
    new RegExp(`^${FIRST_SEGMENT}(?:/${NAME}?)*$`, 'u'),
    'must be a relative path that uses / and has no .. segment',
  )
  .refine(
    (path) => codePoints(path) <= MAX_PATH_LENGTH,
    `must have at most ${MAX_PATH_LENGTH} characters`,
  )
  .meta({ maxLength: MAX_PATH_LENGTH });

export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 lowercase hex characters');

function fixtureCase<const Name extends CaseName>(name: Name) {
  const state = FIXTURE_CASES[name];
  return z.strictObject({
    name: z.literal(name),
    mutation: FreeText,
    expected: z.strictObject({
      state: z.literal(state),
      next_action: z.literal(NEXT_ACTION[state]),
      operations_issued: z.literal(0),
    }),
    completion_evidence_path: RelativePath.optional(),
  });
}

export const PortableFixture = z.strictObject({
  schema: FreeText,
  purpose: FreeText,
  artifact: z.strictObject({ path: RelativePath, bytes: z.int().min(0), sha256: Sha256 }),
  cases: z.tuple([
    fixtureCase('baseline'),
    fixtureCase('missing-artifact'),
    fixtureCase('altered-artifact'),
    fixtureCase('completion-unproven'),
    fixtureCase('unknown-side-effect'),
  ]),
  external_execution: z.boolean(),
  trust_assumptions: FreeTexts,
});
