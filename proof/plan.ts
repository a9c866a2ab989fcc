import type { Random } from './random.ts';

/** A fault, with the bursts that start just before it and in the calm after it. */
export interface Step {
  fault: FaultName;
  /** Selects the process: a number, taken modulo the number of processes. */
  target: number;
  /** Duration, for faults that last. */
  ms: number;
  /** For faults of COMMIT: the first transaction whose bytes contain this text is affected. */
  marker: string;
  amid: readonly string[];
  after: readonly string[];
  pauseMs: number;
}

export const FAULTS = [
  'kill -9 of a web process',
  'kill -9 of a worker process',
  'kill -9 of PostgreSQL',
  'the standby is lost, then the primary, and the standby is promoted',
  'the standby, which is the read replica, is lost and comes back',
  'the read replica falls behind',
  'the pooler is restarted',
  'a process stands still',
  'a backend of PostgreSQL stands still',
  "a process's clock jumps",
  'every connection to the database is cut',
  'connections to the database are half closed by it',
  'connections to the database are half closed to it',
  'the database is slow',
  'the database is silent',
  "COMMIT's reply is lost",
  'COMMIT is lost',
] as const;
export type FaultName = (typeof FAULTS)[number];

const MARKERS = [
  'CaseOpened',
  'CaseNoted',
  'ProfilePublished',
  'ArtifactPublished',
  'CredentialCreated',
  'CredentialRevoked',
  'NoteSubmitted',
  'NoteApproved',
  'SessionStarted',
  'MemberRegistered',
];

/** Yields every item once in random order, round after round. */
function* rounds<Item>(random: Random, items: readonly Item[]): Generator<Item, never> {
  for (;;) {
    const left = [...items];
    while (left.length > 0) yield left.splice(random.below(left.length), 1)[0] as Item;
  }
}

/**
 * The plan of faults; it depends on the seed alone, not on what happens during the run. `only` limits
 * it to these faults.
 */
export function* planOf(
  random: Random,
  bursts: readonly string[],
  only: readonly FaultName[] = FAULTS,
): Generator<Step, never> {
  const faults = rounds(random.fork(), only);
  const next = rounds(random.fork(), bursts);
  const some = (count: number) => Array.from({ length: count }, () => next.next().value);
  for (;;)
    yield {
      fault: faults.next().value,
      target: random.below(1000),
      ms: 400 + random.below(2600),
      marker: random.pick(MARKERS),
      amid: some(1),
      after: some(2),
      pauseMs: random.below(500),
    };
}
