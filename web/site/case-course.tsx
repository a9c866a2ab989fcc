import type { CaseCourse as Course, People } from '../../services/pages/view.ts';
import { When } from '../shared/time.tsx';
import { PersonName } from './parts.tsx';

type Span = Course['spans'][number];

/** How many members have a line in the picture: those who held the case last. */
const MAX_LANES = 8;
/** The narrowest bar, in percent of the picture. */
const NARROWEST = 0.8;

/** A picture of who held a case and when, with the same in words below. Nothing if no member held it. */
export function CaseCourse({ course, people }: { course: Course; people: People }) {
  const { spans } = course;
  const [first] = spans;
  if (!first) return null;
  const start = Date.parse(first.from);
  const ends = spans.flatMap(({ from, until }) => [from, until ?? from]);
  const end = Math.max(...ends.map((time) => Date.parse(time)), start + 1);
  const lanes = [...Map.groupBy(spans.toReversed(), ({ memberId }) => memberId)];
  const shown = lanes.slice(0, MAX_LANES).reverse();
  return (
    <section aria-labelledby="course">
      <h2 id="course">Who held it</h2>
      <ul class="lanes">
        {shown.map(([memberId, own]) => (
          <li key={memberId}>
            <PersonName id={memberId} people={people} />
            <svg role="img" aria-label={laneText(own)}>
              {own.map((span) => (
                <Bar key={span.from} span={span} start={start} end={end} />
              ))}
            </svg>
          </li>
        ))}
      </ul>
      <p class="meta lane-ends">
        <When at={first.from} />
        <When at={new Date(end).toISOString()} />
      </p>
      <p class="hint">
        Filled: held. Pale: until the lease ends. Dashed: under review.
        {!course.complete && ' Earlier changes are left out.'}
        {lanes.length > MAX_LANES && ` ${lanes.length - MAX_LANES} more held it before.`}
      </p>
      <details>
        <summary>In words</summary>
        <ol class="lines">
          {spans.map((span) => (
            <li key={`${span.kind} ${span.from}`}>
              <PersonName id={span.memberId} people={people} /> {KINDS[span.kind]}{' '}
              {span.openStart ? 'before ' : ''}
              <When at={span.from} />
              {span.until && (
                <>
                  {' '}
                  until <When at={span.until} />
                </>
              )}
              : {span.end}
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}

const KINDS = { held: 'held it from', review: 'waited for a review from' } as const;

const times = (count: number): string => ['once', 'twice'][count - 1] ?? `${count} times`;

/** What a line of the picture shows, in words. */
function laneText(spans: readonly Span[]): string {
  const of = (kind: Span['kind']) => spans.filter((span) => span.kind === kind).length;
  const [held, reviewed] = [of('held'), of('review')];
  const last = spans[0]?.end ?? '';
  return [
    held > 0 ? `held ${times(held)}` : '',
    reviewed > 0 ? `under review ${times(reviewed)}` : '',
    `last: ${last}`,
  ]
    .filter(Boolean)
    .join(', ');
}

function Bar({ span, start, end }: { span: Span; start: number; end: number }) {
  const place = (time: string) => (100 * (Date.parse(time) - start)) / (end - start);
  const from = Math.min(place(span.from), 100 - NARROWEST);
  const width = Math.max((span.until ? place(span.until) : 100) - from, NARROWEST);
  const [x, inlineSize] = [`${from.toFixed(2)}%`, `${Math.min(width, 100 - from).toFixed(2)}%`];
  return (
    <g class={`span ${span.kind} ${span.end.replaceAll(' ', '-')}`}>
      <rect x={x} y="3" width={inlineSize} height="14" rx="2" />
      {span.end === 'accepted' && (
        <circle cx={`${Math.min(from + width, 99).toFixed(2)}%`} cy="10" r="5" />
      )}
    </g>
  );
}
