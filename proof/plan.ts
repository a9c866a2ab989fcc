import type { Random } from './random.ts';

/** One fault, and the bursts that are run into it and in the calm after it. */
export interface Step {
  fault: FaultName;
  /** Which of the processes: a number to be taken modulo how many there are. */
  target: number;
  /** How long it lasts, where it lasts. */
  ms: number;
  /** Which transaction it happens to: the first whose bytes hold this. */
  marker: string;
  amid: readonly string[];
  after: readonly string[];
  pauseMs: number;
}

export const FAULTS = [
  'kill -9 of a web process',
  'kill -9 of a worker process',
  'kill -9 of PostgreSQL',
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

/** Every item once in an order by chance, and so on, round after round. */
function* rounds<Item>(random: Random, items: readonly Item[]): Generator<Item, never> {
  for (;;) {
    const left = [...items];
    while (left.length > 0) yield left.splice(random.below(left.length), 1)[0] as Item;
  }
}

/** The same for the same seed, whatever happens meanwhile. */
export function* planOf(random: Random, bursts: readonly string[]): Generator<Step, never> {
  const faults = rounds(random.fork(), FAULTS);
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
