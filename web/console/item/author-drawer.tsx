import { useEffect, useState } from 'preact/hooks';
import { Alert } from '../../shared/live-region.tsx';
import { rejectAllBy } from '../decide/batches.ts';
import { findPolicy } from '../decide/policy-list.tsx';
import { decisionState, type OwnDecision } from '../decide/undo.ts';
import { itemAddress, NO_FILTERS, onPlainClick, viewAddress } from '../queue/address.ts';
import { openItem, showView } from '../queue/navigation.ts';
import { call } from '../session/moderation-api.ts';
import { settingsState } from '../session/settings.ts';
import { createState } from '../session/store.ts';
import {
  type HistoryEvent,
  type Item,
  type ListView,
  type QueueBody,
  withItemId,
} from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { formatTime, fullTime, plural } from '../words/format.ts';
import { actorName, authorName, isErased, kindName, toExcerpt, truncate } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { AuthorStrip } from './author-strip.tsx';
import { CommentForm, DeleteComment } from './comments.tsx';
import { MembershipControl } from './membership.tsx';

export const drawerState = createState({
  /** Shows the author's other items beside the current item. */
  view: { drawer: false },
});

export const showDrawer = (drawer: boolean): void => drawerState.set({ drawer });

const MAX_ITEMS = 10;
const MAX_EXCERPT_LENGTH = 200;

/** What the list filters by; guests without a name cannot be distinguished. */
export const authorFilter = ({ author }: Item): string | null =>
  author.member_id ?? (author.name || null);

/** The author's waiting and last decided items, beside the current item, which stays in place. */
export function AuthorDrawer({ item }: { item: Item }) {
  const { keys } = settingsState();
  const { ownDecisions } = decisionState();
  const author = authorFilter(item);
  const { items, waiting, fault } = useItems(author, ownDecisions);
  const others = items?.filter(({ id }) => id !== item.id).slice(0, MAX_ITEMS);
  const filters = { ...NO_FILTERS, author: author ?? '' };
  return (
    <section class="drawer" id="drawer" tabIndex={-1} aria-labelledby="drawer-title">
      <div class="list-line">
        <h3 id="drawer-title">
          More by <MarkedText text={authorName(item)} />
        </h3>
        <button
          type="button"
          class="button quiet"
          aria-keyshortcuts={keys ? 'h' : undefined}
          onClick={() => showDrawer(false)}
        >
          Close {keys && <kbd>h</kbd>}
        </button>
      </div>
      {author !== null && (
        <p class="hint">
          {item.author.kind === 'guest' && 'Guests with this name may be several people. '}
          <a
            href={viewAddress('decided', filters)}
            onClick={onPlainClick(() => showView('decided', filters))}
          >
            All decisions
          </a>
        </p>
      )}
      {items && items.length > 1 && <AuthorStrip items={items} />}
      {item.author.member_id && waiting && waiting.rejectable > 0 && (
        <button
          type="button"
          class="button danger"
          onClick={() => void rejectAllBy(item.author.member_id ?? '')}
        >
          {waiting.more
            ? 'Reject all waiting notes…'
            : `Reject all ${plural(waiting.rejectable, 'waiting note')}…`}
        </button>
      )}
      {item.author.member_id && <MembershipControl memberId={item.author.member_id} />}
      {item.author.member_id && (
        <AuthorComments key={item.author.member_id} memberId={item.author.member_id} />
      )}
      {fault && <Alert>{fault}</Alert>}
      {author === null && <p class="hint">Guests without a name cannot be distinguished.</p>}
      {author !== null && !items && !fault && <p class="hint">Loading…</p>}
      {others?.length === 0 && <p class="hint">Nothing else.</p>}
      <ul>
        {others?.map((other) => (
          <li key={other.id}>
            <ItemSummary item={other} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Found {
  author: string;
  items: readonly Item[];
  /** The notes that can be rejected, and whether more items wait than were read. */
  waiting: { rejectable: number; more: boolean };
}

/** The items of an author, once they are read; read again after each own decision. */
function useItems(author: string | null, ownDecisions: readonly OwnDecision[]) {
  const [found, setFound] = useState<Found | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let outdated = false;
    setFault(null);
    if (author === null) return;
    readItems(author).then(
      (read) => {
        if (!outdated) setFound(read);
      },
      (error) => {
        if (!outdated) setFault(failureText(toFailure(error)));
      },
    );
    return () => {
      outdated = true;
    };
  }, [author, ownDecisions]);
  const current = found?.author === author ? found : null;
  return { items: current?.items, waiting: current?.waiting, fault };
}

function ItemSummary({ item }: { item: Item }) {
  return (
    <>
      <p class="hint">
        <span class={`tag ${item.state}`}>{item.state}</span>{' '}
        <a href={itemAddress(item.id)} onClick={onPlainClick(() => openItem(item.id))}>
          {kindName(item)},{' '}
          <time dateTime={item.received_at} title={fullTime(item.received_at)}>
            {formatTime(item.received_at)}
          </time>
        </a>
        {item.decision?.policy &&
          ` · ${findPolicy(item.decision.policy)?.title ?? item.decision.policy}`}
      </p>
      {isErased(item) ? (
        <em>erased</em>
      ) : (
        <MarkedText text={truncate(toExcerpt(item), MAX_EXCERPT_LENGTH)} />
      )}
    </>
  );
}

/**
 * Comments on a member; a guest has none, since a name may belong to several people. The parent sets
 * `key`, so that a late answer about one member is never shown beside another.
 */
function AuthorComments({ memberId }: { memberId: string }) {
  const [comments, setComments] = useState<readonly HistoryEvent[]>([]);
  const subject = `member/${memberId}`;
  const read = () =>
    call<{ comments: HistoryEvent[] }>('GET', `subjects/${subject}/comments`).then(
      (body) => setComments(body.comments),
      // A former member has no comments.
      () => setComments([]),
    );
  useEffect(() => void read(), []);
  const readAfterDeletion = () => {
    // The button that had the focus goes away.
    document.getElementById('drawer')?.focus();
    void read();
  };
  return (
    <section class="author-comments" aria-label="Comments on this author">
      {comments.map((comment) => (
        <div key={comment.event_id} class="comment">
          <p class="hint">
            <bdi>{actorName(comment.actor)}</bdi>, {formatTime(comment.at)}
          </p>
          {comment.text === null ? (
            <em>erased</em>
          ) : (
            <MarkedText text={comment.text} class="quoted" />
          )}
          <DeleteComment comment={comment} subject={subject} onDeleted={readAfterDeletion} />
        </div>
      ))}
      <CommentForm subject={subject} label="Comment on this author" onAdded={() => void read()} />
    </section>
  );
}

/** Waiting items first, then decided ones, the last first. */
async function readItems(author: string): Promise<Found> {
  const read = (view: ListView) => {
    // One more than is shown, since the current item is left out.
    const query = new URLSearchParams({ view, author, limit: String(MAX_ITEMS + 1) });
    return call<QueueBody>('GET', `queue?${query}`);
  };
  const [waiting, decided] = await Promise.all([read('todo'), read('decided')]);
  const rejectable = waiting.items.filter(({ allowed_actions: actions }) =>
    actions.includes('reject'),
  ).length;
  return {
    author,
    items: [...waiting.items, ...decided.items].map(withItemId),
    waiting: { rejectable, more: waiting.next_cursor !== null },
  };
}
