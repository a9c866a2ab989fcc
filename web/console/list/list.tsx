import { useRef } from 'preact/hooks';
import { Alert } from '../../shared/live-region.tsx';
import { claimNext, hasClaimable } from '../claims/claims.ts';
import { batchAction, openBatchPreview } from '../decide/batches.ts';
import { PUBLISHING_ACTIONS, REMOVING_ACTIONS } from '../decide/decisions.ts';
import { undoableSelection, undoSelection } from '../decide/undo.ts';
import { type Filters, LASTING_FILTERS } from '../queue/address.ts';
import { showArrivals } from '../queue/list-changes.ts';
import { showView } from '../queue/navigation.ts';
import { focusOn, loadList, loadMore, matchesText } from '../queue/queue.ts';
import {
  currentList,
  placeState,
  queueState,
  select,
  selectAll,
  selectableIds,
} from '../queue/queue-state.ts';
import { SearchInput, useTypingPause } from '../search/search-input.tsx';
import { connectionState } from '../session/connection.ts';
import { HAS_KEYBOARD, settingsState } from '../session/settings.ts';
import { formatCount, plural } from '../words/format.ts';
import { ACTION_NAMES, VIEW_NAMES } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { EmptyList } from './empty-list.tsx';
import { MoreFilters, SearchSelects } from './filters.tsx';
import { Rows } from './rows.tsx';
import { SaveView } from './save-view.tsx';

export function List() {
  const { items, gone, nextCursor, loading, listFault, selected } = queueState();
  return (
    <section class="list" aria-labelledby="list-title">
      <ListHead />
      <div class="list-scroll">
        {listFault && (
          <Alert>
            {listFault}{' '}
            <button type="button" class="button quiet" onClick={() => void loadList()}>
              Try again
            </button>
          </Alert>
        )}
        {items.length > 0 && <Rows />}
        {items.length === gone.size && !loading && !listFault && <EmptyList />}
        {loading && items.length === 0 && <p class="hint pad">Loading the queue…</p>}
        {nextCursor && (
          <button type="button" class="button more" onClick={() => void loadMore()}>
            Load more
          </button>
        )}
      </div>
      {selected.size > 0 && <SelectionBar />}
    </section>
  );
}

function ListHead() {
  const { arrivals } = queueState();
  const { me } = connectionState();
  const { keys } = settingsState();
  const canClaim = me?.role !== 'auditor' && hasClaimable(currentList());
  return (
    <div class="list-head">
      <div class="list-line">
        <h2 id="list-title" tabIndex={-1}>
          {VIEW_NAMES[currentList()]}
        </h2>
        {arrivals.length > 0 && (
          <button type="button" class="button quiet arrivals" onClick={showArrivals}>
            Show {formatCount(arrivals.length)} new
          </button>
        )}
        {canClaim && (
          <button
            type="button"
            class="button"
            aria-keyshortcuts={keys ? 'n' : undefined}
            onClick={() => void claimNext()}
          >
            Claim next {keys && <kbd>n</kbd>}
          </button>
        )}
      </div>
      <Search />
    </div>
  );
}

/** What can be done with the selected notes. */
function SelectionBar() {
  const { selected } = queueState();
  const { keys } = settingsState();
  const shown = selectableIds().length;
  const undoable = currentList() === 'decided' ? undoableSelection() : [];
  const publishing = batchAction(PUBLISHING_ACTIONS);
  const removing = batchAction(REMOVING_ACTIONS);
  return (
    <fieldset class="selection">
      <legend>{plural(selected.size, 'note')} selected</legend>
      {selected.size < shown && (
        <button type="button" class="button quiet" onClick={selectAll}>
          Select all {shown}
        </button>
      )}
      <button type="button" class="button quiet" onClick={() => select([])}>
        Clear
      </button>
      <div class="row-buttons">
        {undoable.length > 0 && (
          <button type="button" class="button" onClick={() => undoSelection()}>
            Undo {plural(undoable.length, 'decision')}
          </button>
        )}
        {(publishing || undoable.length === 0) && (
          <button
            type="button"
            class="button"
            aria-keyshortcuts={keys ? 'Shift+A' : undefined}
            onClick={() => openBatchPreview(PUBLISHING_ACTIONS)}
          >
            {ACTION_NAMES[publishing ?? 'approve']}… {keys && <kbd>⇧A</kbd>}
          </button>
        )}
        {(removing || undoable.length === 0) && (
          <button
            type="button"
            class="button danger"
            aria-keyshortcuts={keys ? 'Shift+R' : undefined}
            onClick={() => openBatchPreview(REMOVING_ACTIONS)}
          >
            {ACTION_NAMES[removing ?? 'reject']}… {keys && <kbd>⇧R</kbd>}
          </button>
        )}
      </div>
    </fieldset>
  );
}

/** Filters that have a field; a link sets the others, which stay. */
const FORM_FILTERS = LASTING_FILTERS.filter((name) => name !== 'decided_by' && name !== 'state');

function Search() {
  const { filters } = placeState();
  const { keys } = settingsState();
  const form = useRef<HTMLFormElement>(null);
  const pause = useTypingPause();
  /** Whether the present history entry holds a part of the text that is being typed. */
  const typing = useRef(false);
  const apply = (replace = false) => {
    pause.cancel();
    const data = new FormData(form.current ?? undefined);
    const field = (name: keyof Filters) => String(data.get(name) ?? '').trim();
    const next = {
      ...filters,
      ...Object.fromEntries(FORM_FILTERS.map((name) => [name, field(name)])),
    };
    showView(currentList(), next, { replace });
  };
  const applyTyped = () => {
    pause.cancel();
    if (form.current?.q.value.trim() === placeState().filters.q) return;
    apply(typing.current);
    typing.current = true;
  };
  return (
    <search>
      <form
        ref={form}
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
          typing.current = false;
          focusOn(null);
        }}
      >
        <SearchInput
          label="Search text and names"
          placeholder={keys && HAS_KEYBOARD ? 'Search (/)' : 'Search'}
          maxLength={200}
          keyShortcut={keys ? '/' : undefined}
          onTyped={() => pause.soon(applyTyped)}
          onEscape={applyTyped}
          onLeft={() => {
            typing.current = false;
          }}
        />
        <SearchSelects onChange={() => apply()} />
        <MoreFilters onChange={() => apply()} />
      </form>
      {Object.values(filters).some(Boolean) && <Narrowed />}
    </search>
  );
}

/** What the filters found, and how to clear them. */
function Narrowed() {
  const { filters } = placeState();
  const { items } = queueState();
  return (
    <p class="hint narrowed">
      {items.length > 0 && <span class="matches">{matchesText()} </span>}
      {filters.decided_by && <>Of one moderator </>}
      {filters.state && <>{filters.state} </>}
      {filters.same_address_as && <>From one address in the last 48 hours </>}
      {filters.like && <>Guests' notes with one text, or nearly </>}
      {filters.author && (
        <>
          Author: <MarkedText text={filters.author} />{' '}
        </>
      )}
      <button type="button" class="button quiet" onClick={() => showView(currentList())}>
        Clear filters
      </button>
      <SaveView />
    </p>
  );
}
