import { useEffect, useRef } from 'preact/hooks';
import { VIEWS } from '../../../domain/moderation/words.ts';
import { SavedViews } from '../list/saved-views-list.tsx';
import { onPlainClick, viewAddress } from '../queue/address.ts';
import { countState } from '../queue/counts.ts';
import { showView } from '../queue/navigation.ts';
import { placeState } from '../queue/queue-state.ts';
import { type Counts, PAGES, type View } from '../words/api-model.ts';
import { formatCount } from '../words/format.ts';
import { VIEW_NAMES } from '../words/labels.ts';

export function Views() {
  const { view } = placeState();
  const { counts } = countState();
  const nav = useRef<HTMLElement>(null);
  // If the views are in a scrolling row, keep the current view visible.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [view]);
  const link = (to: View) => {
    const count = counts?.[to as keyof Counts];
    return (
      <li key={to}>
        <a
          href={viewAddress(to)}
          aria-current={view === to ? 'page' : undefined}
          onClick={onPlainClick(() => showView(to))}
        >
          <span>{VIEW_NAMES[to]}</span>
          {count !== undefined && (
            <span class={count > 0 ? 'count' : 'count none'}>
              {formatCount(count)}
              <span class="visually-hidden"> waiting</span>
            </span>
          )}
        </a>
      </li>
    );
  };
  return (
    <nav ref={nav} class="views" aria-label="Views">
      <ul>{VIEWS.map(link)}</ul>
      <ul>{PAGES.map(link)}</ul>
      <SavedViews />
    </nav>
  );
}
