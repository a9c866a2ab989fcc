import { onPlainClick } from '../queue/address.ts';
import { connectionState } from '../session/connection.ts';
import { settingsState } from '../session/settings.ts';
import type { SavedView } from '../words/api-model.ts';
import { formatCount } from '../words/format.ts';
import { savedAddress, savedViewState, shownSavedView, showSavedView } from './saved-views.ts';

/** The saved views, below all other views, so that they move nothing when they come. */
export function SavedViews() {
  const { savedViews } = savedViewState();
  const { keys } = settingsState();
  const { me } = connectionState();
  if (savedViews.length === 0) return null;
  const shown = shownSavedView();
  return (
    <section class="saved" aria-labelledby="saved-title">
      <h2 id="saved-title">Saved</h2>
      <ul>
        {savedViews.map((saved, index) => (
          <li key={`${saved.moderator.id} ${saved.id}`}>
            <a
              href={savedAddress(saved)}
              aria-current={saved === shown ? 'page' : undefined}
              title={saved.mine ? undefined : `Shared by ${saved.moderator.name}`}
              onClick={onPlainClick(() => showSavedView(saved))}
            >
              <bdi class="name">{saved.name}</bdi>
              {saved.shared && saved.moderator.id === me?.id && (
                <span class="visually-hidden"> (shared)</span>
              )}
              <Count saved={saved} />
              {keys && index < 9 && <kbd>{index + 1}</kbd>}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Count({ saved: { count } }: { saved: SavedView }) {
  if (!count) return null;
  const more = count.more ? '+' : '';
  return (
    <span class={count.items > 0 ? 'count' : 'count none'}>
      {formatCount(count.items)}
      {more}
      <span class="visually-hidden"> found</span>
    </span>
  );
}
