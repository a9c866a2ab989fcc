import type { Item } from '../words/api-model.ts';
import { formatTime } from '../words/format.ts';
import { kindName } from '../words/labels.ts';

const STEP = 12;
const BAR = { width: 8, height: 12 };
const MIDDLE = BAR.height + 2;

const REFUSED: readonly string[] = ['rejected', 'removed'];

/** What became of an author's items, the oldest first: a bar for each, which tells them apart without colour. */
export function AuthorStrip({ items }: { items: readonly Item[] }) {
  const ordered = items.toSorted((a, b) => Date.parse(a.received_at) - Date.parse(b.received_at));
  const width = ordered.length * STEP;
  return (
    <figure class="author-strip">
      <svg
        viewBox={`0 0 ${width} ${2 * MIDDLE}`}
        width={width}
        height={2 * MIDDLE}
        aria-hidden="true"
      >
        <line class="grid" x1={0} x2={width} y1={MIDDLE} y2={MIDDLE} />
        {ordered.map((item, index) => (
          <rect
            key={item.id}
            class={lookOf(item)}
            x={index * STEP + (STEP - BAR.width) / 2}
            y={placeOf(item)}
            width={BAR.width}
            height={BAR.height}
          >
            <title>{`${kindName(item)}, ${formatTime(item.received_at)}: ${item.state}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption class="hint">{inWords(ordered)}</figcaption>
    </figure>
  );
}

function lookOf({ state }: Item): 'refused' | 'waiting' | 'stays' {
  if (REFUSED.includes(state)) return 'refused';
  return state === 'pending' ? 'waiting' : 'stays';
}

/** Up from the line, down from it, or across it while it waits. */
function placeOf(item: Item): number {
  const look = lookOf(item);
  if (look === 'refused') return MIDDLE;
  return look === 'stays' ? MIDDLE - BAR.height : MIDDLE - BAR.height / 2;
}

/** Such as `Last 4: 1 approved, 1 rejected, 2 waiting`. */
function inWords(items: readonly Item[]): string {
  const counts = Map.groupBy(items, ({ state }) => (state === 'pending' ? 'waiting' : state));
  const parts = [...counts].map(([state, those]) => `${those.length} ${state}`);
  return `Last ${items.length}: ${parts.join(', ')}`;
}
