import { BANDS, type FindingCode, WEIGHTS, type Weights } from '../../domain/screening/rules.ts';
import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';
import { type Backtest, backtest, type Judgement } from '../../services/screening/backtest.ts';
import { rescreen } from '../../services/screening/screening.ts';
import { readWeights } from '../../services/screening/weights-file.ts';
import { dateOf } from './arguments.ts';
import { withStorage } from './storage.ts';
import { say } from './terminal.ts';

const PROGRESS_EVERY = 10_000;
const HOUR = 3600;

/** Prints what the rules, or these weights, would have made of every note that was screened. */
export async function printBacktest(args: string[]): Promise<void> {
  const { values } = parseArguments(args, {
    rules: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    json: { type: 'boolean' },
  });
  const period = { from: dateOf('--from', values.from), to: dateOf('--to', values.to) };
  const weights = values.rules === undefined ? WEIGHTS : await weightsIn(values.rules);
  await withStorage(async ({ pool }) => {
    const result = await backtest(pool, weights, period, (notes) => {
      if (notes % PROGRESS_EVERY === 0 && notes > 0)
        process.stderr.write(`${notes} notes judged\n`);
    });
    if (values.json) process.stdout.write(`${JSON.stringify(toJson(result, weights))}\n`);
    else print(result, weights);
  });
}

const weightsIn = (file: string): Promise<Weights> =>
  readWeights(file).catch((error: Error) => {
    throw new ArgumentError(error.message);
  });

const toJson = ({ codes, ...figures }: Backtest, { points, likelySpam }: Weights) => ({
  ...figures,
  likely_spam: likelySpam,
  findings: [...codes].map(([code, one]) => ({ code, points: points[code], ...one })),
});

function print(result: Backtest, weights: Weights): void {
  const { notes, known, comparable, reproduced, recorded, judged } = result;
  say(`Screened        ${notes} notes`);
  say(`Text known      ${known}; of the others, the recorded findings count`);
  say(`Found again     in ${reproduced} of ${comparable} that this version of the rules screened`);
  for (const id of result.deviating) say(`  not in        ${id}`);
  say();
  say(row('', ['as recorded', 'these rules']));
  for (const band of [...BANDS].reverse()) {
    for (const outcome of ['refused', 'public', 'undecided'] as const)
      say(
        row(
          `${band}, ${outcome}`,
          [recorded, judged].map(({ bands }) => String(bands[band][outcome])),
        ),
      );
  }
  for (const [label, figure] of SUMMARY) say(row(label, [recorded, judged].map(figure)));
  say();
  say(row('finding', ['points', 'refused', 'public', 'precision', 'lost', 'gained']));
  for (const [code, one] of result.codes) {
    if (one.refused + one.public + one.undecided + one.lost === 0) continue;
    const precision = share(one.refused, one.refused + one.public);
    say(
      row(
        code,
        [pointsOf(code, weights), one.refused, one.public, precision, one.lost, one.gained].map(
          String,
        ),
      ),
    );
  }
}

/** What the bands are worth, where `likely_spam` counts as caught. */
const SUMMARY: readonly [label: string, figure: (one: Judgement) => string][] = [
  [
    'precision of likely_spam',
    ({ bands: { likely_spam } }) =>
      share(likely_spam.refused, likely_spam.refused + likely_spam.public),
  ],
  [
    'refused that it catches',
    ({ bands }) =>
      share(
        bands.likely_spam.refused,
        BANDS.reduce((sum, band) => sum + bands[band].refused, 0),
      ),
  ],
  ['public after an appeal', ({ restored }) => String(restored)],
  ['hours waited by caught', ({ waited }) => (waited / HOUR).toFixed(1)],
  ['hours of their review', ({ handled }) => (handled / HOUR).toFixed(1)],
];

const pointsOf = (code: FindingCode, { points }: Weights): string =>
  points[code] === WEIGHTS.points[code]
    ? String(points[code])
    : `${WEIGHTS.points[code]} to ${points[code]}`;

const share = (part: number, all: number): string =>
  all === 0 ? '-' : `${((100 * part) / all).toFixed(1)} %`;

const row = (label: string, columns: readonly string[]): string =>
  `${label.padEnd(26)}${columns.map((column) => column.padStart(13)).join('')}`.trimEnd();

/** Enqueues the pending notes that the current screening rules have not seen. */
export async function rescreenNotes(args: string[]): Promise<void> {
  parseArguments(args);
  await withStorage(async ({ store }) => {
    process.stdout.write(`Enqueued ${await rescreen(store)} notes to be screened again\n`);
  });
}
