import { Fragment } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { leaseState } from '../in-progress/leases.ts';
import { sentState } from '../in-progress/sent.ts';
import { isShielded } from '../item/shielded.tsx';
import { loadMore } from '../queue/queue.ts';
import { currentList, placeState, queueState } from '../queue/queue-state.ts';
import { connectionState } from '../session/connection.ts';
import type { Item } from '../words/api-model.ts';
import { VIEW_NAMES } from '../words/labels.ts';
import { Row, whenText } from './row.tsx';

/** Rows that are rendered above and below those in sight. */
const SPARE_ROWS = 50;
/** The rendered part changes in steps, so that not each scrolled pixel renders. */
const STEP_ROWS = 10;
/** Assumed until the first row is measured. */
const ROW_PX = 90;

/** The rows of the list: those in sight, some around them, and the current one. */
export function Rows() {
  const { items, gone, selected } = queueState();
  const { focusId, filters } = placeState();
  const { marks } = sentState();
  const { leases } = leaseState();
  const { me } = connectionState();
  const list = useRef<HTMLUListElement>(null);
  const [first, setFirst] = useState(0);
  const [last, setLast] = useState(2 * SPARE_ROWS);
  const rowPx = useRef(ROW_PX);
  useKeptPlace(items, focusId);
  useLayoutEffect(() => {
    const measure = (scrolled?: Event) => {
      const place = list.current;
      if (!place || place.offsetParent === null) return;
      // The exact height: a fraction of a pixel, times the rows of a gap, moves what is in sight. A row
      // with the text of a conflict is higher than the others.
      const row = place.querySelector('.row:not(.is-conflict)');
      rowPx.current = row?.getBoundingClientRect().height || rowPx.current;
      const { top } = place.getBoundingClientRect();
      const inSight = (px: number) =>
        Math.floor((px - top) / rowPx.current / STEP_ROWS) * STEP_ROWS;
      setFirst(inSight(0) - SPARE_ROWS);
      setLast(inSight(innerHeight) + STEP_ROWS + SPARE_ROWS);
      // Scrolling to the end reads more, as the keys do. Without a scroll, nothing is read.
      if (
        scrolled?.type === 'scroll' &&
        inSight(innerHeight) >= queueState().items.length - STEP_ROWS
      )
        void loadMore();
    };
    measure();
    // Captures the scrolling of the list and, in the one-column layout, that of the page.
    addEventListener('scroll', measure, { capture: true, passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure, { capture: true });
      removeEventListener('resize', measure);
    };
  }, []);
  const canSelect = me?.role !== 'auditor';
  const shown = items
    .map((item, index) => ({ item, index }))
    .filter(({ item, index }) => (index >= first && index < last) || item.id === focusId);
  let next = 0;
  return (
    <ul ref={list} class="rows" aria-label={VIEW_NAMES[currentList()]}>
      {shown.map(({ item, index }) => {
        const left = index - next;
        next = index + 1;
        return (
          <Fragment key={item.id}>
            <Gap px={left * rowPx.current} />
            <Row
              item={item}
              place={index + 1}
              rows={items.length}
              isCurrent={focusId === item.id}
              isSelected={selected.has(item.id)}
              canSelect={canSelect}
              isGone={gone.has(item.id)}
              mark={marks.get(item.id)}
              lease={leases.get(item.id)}
              shielded={isShielded(item)}
              when={whenText(item, currentList())}
              query={filters.q}
            />
          </Fragment>
        );
      })}
      <Gap px={(items.length - next) * rowPx.current} />
    </ul>
  );
}

/** The room of rows that are not rendered. */
function Gap({ px }: { px: number }) {
  return px > 0 ? <li class="gap" aria-hidden="true" style={{ blockSize: `${px}px` }} /> : null;
}

/** Scrolls by as much as a change of the items has moved the current row, so that it stays. */
function useKeptPlace(items: readonly Item[], focusId: string | null): void {
  const before = useRef({ items, focusId });
  const topOf = () =>
    document.getElementById(`row-${focusId}`)?.getBoundingClientRect().top ?? null;
  const changed = before.current.items !== items && before.current.focusId === focusId;
  const top = changed ? topOf() : null;
  useLayoutEffect(() => {
    before.current = { items, focusId };
    const now = top === null ? null : topOf();
    if (top === null || now === null || now === top) return;
    const place = document.querySelector('.list-scroll');
    const scroller = place && getComputedStyle(place).overflowY === 'auto' ? place : null;
    (scroller ?? document.documentElement).scrollBy({ top: now - top, behavior: 'instant' });
  });
}
