import { useEffect, useRef, useState } from 'preact/hooks';
import { Alert } from '../../shared/live-region.tsx';
import { FiguresTable } from '../figures/figures-table.tsx';
import { announce } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import type { RulesBacktest } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { formatCount, formatRate, plural } from '../words/format.ts';
import { findingName } from '../words/labels.ts';

const HOUR = 3600;

/** What the rules of this release make of every note that was screened, summed page by page. */
export function Backtest() {
  const [sum, setSum] = useState<RulesBacktest | null>(null);
  const [running, setRunning] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const stopped = useRef(false);
  useEffect(
    () => () => {
      stopped.current = true;
    },
    [],
  );

  async function judge(from: RulesBacktest | null): Promise<void> {
    stopped.current = false;
    setFault(null);
    setSum(from);
    setRunning(true);
    let total = from;
    try {
      do {
        const cursor = total?.next_cursor;
        const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : '';
        const page = await call<RulesBacktest>('GET', `policies/backtest${query}`);
        total = total ? add(total, page) : page;
        setSum(total);
      } while (total.has_more && !stopped.current);
      if (!stopped.current) announce(`${plural(total.notes, 'note')} judged.`);
    } catch (error) {
      setFault(failureText(toFailure(error)));
    }
    setRunning(false);
  }

  const partly = sum?.has_more === true && !running;
  return (
    <section class="backtest" aria-labelledby="backtest-title">
      <h3 id="backtest-title">How the rules did</h3>
      <p class="hint">
        Judges every screened note again, by the rules of this release. Operators can try other
        weights with the command <span class="code">moderator backtest</span>.
      </p>
      <div class="list-line">
        <p>{sum ? `${plural(sum.notes, 'note')} judged${partly ? ', not all' : ''}` : ''}</p>
        {running ? (
          <button
            key="button"
            type="button"
            class="button"
            onClick={() => {
              stopped.current = true;
            }}
          >
            Stop
          </button>
        ) : (
          <button
            key="button"
            type="button"
            class="button"
            onClick={() => void judge(partly ? sum : null)}
          >
            {partly ? 'Continue' : 'Judge the past'}
          </button>
        )}
      </div>
      {fault && <Alert>{fault}</Alert>}
      {sum && !running && <Figures sum={sum} />}
    </section>
  );
}

function Figures({ sum: { recorded, judged, findings } }: { sum: RulesBacktest }) {
  const found = findings.filter(
    ({ refused, public: open, undecided }) => refused + open + undecided > 0,
  );
  return (
    <>
      <FiguresTable
        label="Rules"
        head={['Outcome', 'When screened', 'These rules']}
        rows={SUMMARY.map(([name, figure]) => [name, figure(recorded), figure(judged)])}
      />
      {found.length > 0 && (
        <FiguresTable
          label="Findings of the rules"
          head={['Finding', 'Refused', 'Public', 'Precision']}
          rows={found.map((one) => [
            findingName(one.code),
            formatCount(one.refused),
            formatCount(one.public),
            formatRate(share(one.refused, one.public)),
          ])}
        />
      )}
    </>
  );
}

type Judgement = RulesBacktest['judged'];

/** A refused note in the band `likely_spam` is caught. */
const SUMMARY: readonly [name: string, figure: (one: Judgement) => string][] = [
  ['Caught', ({ likely_spam }) => formatCount(likely_spam.refused)],
  ['Wrongly caught', ({ likely_spam }) => formatCount(likely_spam.public)],
  ['Missed', ({ look, clear }) => formatCount(look.refused + clear.refused)],
  ['Restored by an appeal', ({ restored }) => formatCount(restored)],
  ['Hours the caught waited', ({ waited_seconds }) => (waited_seconds / HOUR).toFixed(1)],
  ['Hours of their review', ({ handled_seconds }) => (handled_seconds / HOUR).toFixed(1)],
  ['Precision', ({ likely_spam }) => formatRate(share(likely_spam.refused, likely_spam.public))],
];

const share = (part: number, rest: number): number | null =>
  part + rest === 0 ? null : part / (part + rest);

/** The figures of two pages together, and the place of the later one. */
const add = (one: RulesBacktest, page: RulesBacktest): RulesBacktest => ({
  ...page,
  notes: one.notes + page.notes,
  recorded: addNumbers(one.recorded, page.recorded),
  judged: addNumbers(one.judged, page.judged),
  // Every page has all codes in the same order.
  findings: page.findings.map((finding, index) => addNumbers(one.findings[index], finding)),
});

/** Adds the numbers of two objects of one form, also those within; of the rest, the later holds. */
function addNumbers<Value>(one: Value | undefined, other: Value): Value {
  if (typeof one === 'number' && typeof other === 'number') return (one + other) as Value;
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return other;
  return Object.fromEntries(
    Object.entries(other).map(([key, value]) => [
      key,
      addNumbers((one as Record<string, unknown>)[key], value),
    ]),
  ) as Value;
}
