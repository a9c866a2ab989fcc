import { createEndings } from '../harness/endings.ts';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { FAULTS } from '../platform/fault.ts';
import type { Verdict } from './check.ts';
import { createProofEnvironment } from './environment.ts';
import type { FaultName } from './plan.ts';
import { restoreDrill } from './restore-drill.ts';
import { run } from './run.ts';

const MUTANTS: readonly string[] = FAULTS;

const USAGE = `Usage:
  npm run proof [-- --seconds N] [--seed S] [--mutant ${MUTANTS.join('|')}]

Runs forty clients for N seconds (120) against the service while its processes, database and network
fail, then checks what the clients saw against the log. --seed repeats the plan of faults. --mutant gives
the service a defect, which the checker must find.
`;

const { values } = processArguments(
  USAGE,
  {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    mutant: { type: 'string' },
  },
  [0, 0],
  ({ values: { seconds, seed, mutant } }) => {
    if (!(Number(seconds) > 0))
      throw new ArgumentError('--seconds must be a number greater than 0.');
    if (!/^\d+$/.test(seed)) throw new ArgumentError('--seed must be a whole number.');
    if (mutant && !MUTANTS.includes(mutant))
      throw new ArgumentError(`--mutant must be one of ${MUTANTS.join(', ')}.`);
  },
);
const { mutant } = values;
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];

/** Mutants that only show under certain faults. */
const FAULTS_FOR: Readonly<Record<string, readonly FaultName[]>> = {
  'no-sync-wait': ['the standby is lost, then the primary, and the standby is promoted'],
  'no-read-your-writes': ['the read replica falls behind'],
};

const UNDO_SECONDS = 3;
const limits = {
  writes: 40,
  credentials: 10,
  notes: 10,
  registrations: 3,
  attempts: 20,
  members: 60,
};

const say = (line: string) => process.stdout.write(`${line}\n`);
say(`seed ${seed}, ${seconds} s${mutant ? `, mutant ${mutant}` : ''}`);
const { onEnd, end } = createEndings();
const stage = await createProofEnvironment(
  {
    LIMIT_KEY_ATTEMPTS: String(limits.attempts),
    LIMIT_BOOTSTRAP_ATTEMPTS: '1000000',
    LIMIT_REGISTRATIONS_PER_DAY: String(limits.registrations),
    LIMIT_MEMBERS: String(limits.members),
    LIMIT_NOTES_PER_TEN_MINUTES: String(limits.notes),
    LIMIT_NOTES_PER_DAY: '1000000',
    LIMIT_GUEST_NOTES_PER_HOUR: '1000000',
    LIMIT_REGISTRATIONS_PER_HOUR: '1000000',
    LIMIT_WRITES_PER_DAY: String(limits.writes),
    LIMIT_ACTIVE_CREDENTIALS: String(limits.credentials),
    UNDO_WINDOW_SECONDS: String(UNDO_SECONDS),
    LOG_LEVEL: 'info',
  },
  mutant,
);

onEnd(stage.close);
if (!stage.pooler) say('no pgbouncer found: runs without a pooler');

let verdicts: Verdict[];
try {
  const faults = FAULTS_FOR[mutant ?? ''];
  verdicts = await run(stage, { seconds, seed, limits, undoMs: UNDO_SECONDS * 1000, faults }, say);
  // Last, because it takes back the end of the log.
  say('\nrestores a backup while a client follows its feed');
  const rule = 'after a restore, a client has recorded exactly its feed';
  // A command that fails or does not end is a finding like any other, and must not hide those before it.
  const wrong = await restoreDrill(stage).catch(({ message }: Error) => [
    message.split('\n', 1).join(),
  ]);
  verdicts.push({ rule, wrong });
} finally {
  await end();
}
say('');
for (const { rule, wrong } of verdicts) {
  say(`${wrong.length === 0 ? 'holds ' : 'BROKEN'}  ${rule}`);
  for (const one of wrong.slice(0, 8)) say(`        ${one}`);
  if (wrong.length > 8) say(`        and ${wrong.length - 8} more`);
}
const broken = verdicts.filter(({ wrong }) => wrong.length > 0).length;
const again = `npm run proof -- --seed ${seed} --seconds ${seconds}`;
say(
  mutant
    ? `\nThe mutant ${mutant} was ${broken > 0 ? 'found' : `NOT found. Again: ${again} --mutant ${mutant}`}`
    : broken === 0
      ? '\nNothing is wrong.'
      : `\n${broken} rules are broken. Again: ${again}`,
);
// With a mutant, the run succeeds only if a rule is broken.
process.exitCode = broken > 0 === (mutant !== undefined) ? 0 : 1;
