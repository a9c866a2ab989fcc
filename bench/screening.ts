import { BANDS, FINDING_CODES, type FindingCode, toBand } from '../domain/screening/rules.ts';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { newBayes } from '../services/screening/bayes.ts';
import { findingsIn } from '../services/screening/findings.ts';
import { type Labelled, labelledNotes } from './labelled.ts';

// Measures what each finding catches and wrongly flags, on mail from 2002 cut to the length of
// notes. One half of the families trains the Bayes classifier; the other half is screened.

const { values } = processArguments(
  `Usage:
  npm run bench:screening [-- --every N]

Prints what each finding of the screening catches and flags wrongly, on a corpus of mail, or on every Nth
mail of it.
`,
  { every: { type: 'string', default: '1' } },
  [0, 0],
  ({ values: { every } }) => {
    if (!/^[1-9]\d*$/.test(every))
      throw new ArgumentError('--every must be a whole number above 0.');
  },
);

const notes = labelledNotes(Number(values.every));
const taught = notes.filter(({ family }) => isEven(family));
const asked = notes.filter(({ family }) => !isEven(family));

/** Assigns families to the halves pseudo-randomly, the same way in each run. */
function isEven(family: number): boolean {
  return Math.imul(family + 1, 0x9e3779b1) >>> 31 === 0;
}

const percent = (count: number, all: number) =>
  all === 0 ? '–' : `${((100 * count) / all).toFixed(1)} %`;

interface Line {
  what: string;
  hit(note: Labelled): boolean;
}

function report(title: string, among: readonly Labelled[], lines: readonly Line[]): void {
  const spam = among.filter((note) => note.spam);
  const ham = among.filter((note) => !note.spam);
  console.log(`\n${title} (${spam.length} spam, ${ham.length} ham)\n`);
  console.log('| | of the spam (caught) | of the ham (wrongly) | spam among these |');
  console.log('|---|---:|---:|---:|');
  for (const { what, hit } of lines) {
    const caught = spam.filter(hit).length;
    const wrong = ham.filter(hit).length;
    if (caught + wrong > 0)
      console.log(
        `| ${what} | ${percent(caught, spam.length)} | ${percent(wrong, ham.length)} | ${percent(caught, caught + wrong)} |`,
      );
  }
}

const started = performance.now();
const found = new Map(
  notes.map((note) => [note, findingsIn({ name: '', message: note.message }).findings]),
);
const each = (performance.now() - started) / notes.length;

const codesOf = (note: Labelled) => (found.get(note) ?? []).map(({ code }) => code);
report(
  'What a text shows by itself, on the half that is asked',
  asked,
  FINDING_CODES.map((code) => ({ what: code, hit: (note) => codesOf(note).includes(code) })),
);

function teach(decisions: readonly Labelled[]) {
  const bayes = newBayes();
  for (const { message, spam } of decisions) bayes.learn({ message, rejected: spam });
  return bayes;
}

const beginning = performance.now();
const bayes = teach(taught);
const teaching = performance.now() - beginning;

/** Samples the training half evenly, since the corpus is sorted by label. */
const some = (count: number) =>
  Array.from({ length: count }, (_, n) => taught[Math.floor((n * taught.length) / count)]).filter(
    (note) => note !== undefined,
  );
for (const count of [...[100, 300, 1000].filter((few) => few < taught.length), taught.length]) {
  const model = count === taught.length ? bayes : teach(some(count));
  const judged = new Map(asked.map((note) => [note, model.judge(note.message)?.percent ?? 0]));
  report(
    `reads_like_rejected after ${count} decisions`,
    asked,
    [50, 90, 99].map((least) => ({
      what: `${least} % and more${least === 90 ? ' (said)' : ''}`,
      hit: (note) => (judged.get(note) ?? 0) >= least,
    })),
  );
}

const withBayes = (note: Labelled): { code: FindingCode }[] => [
  ...(found.get(note) ?? []),
  ...((bayes.judge(note.message)?.percent ?? 0) >= 90
    ? [{ code: 'reads_like_rejected' as const }]
    : []),
];
for (const [title, findings] of [
  ['Bands without the Bayes', (note: Labelled) => found.get(note) ?? []],
  ['Bands with the Bayes', withBayes],
] as const)
  report(
    title,
    asked,
    BANDS.map((band) => ({ what: band, hit: (note) => toBand(findings(note)) === band })),
  );

report(
  'Look-alikes earlier in the corpus, all of it',
  notes,
  FINDING_CODES.map((what) => ({
    what,
    hit: ({ lookAlikes }) => lookAlikes.some(({ code }) => code === what),
  })),
);

console.log(
  `\n${(1000 * each).toFixed(0)} µs a text; ${taught.length} decisions learnt in ${teaching.toFixed(0)} ms`,
);
