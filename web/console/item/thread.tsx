import { reasonName } from '../../shared/display-names.ts';
import { policyTitle } from '../decide/policy-list.tsx';
import { NO_FILTERS, onPlainClick, viewAddress } from '../queue/address.ts';
import { showView } from '../queue/navigation.ts';
import { loadEarlierHistory, refreshItem } from '../queue/read-item.ts';
import {
  type Detail,
  type HistoryEvent,
  type ThreadNote,
  toSubject,
  toSubjectPath,
} from '../words/api-model.ts';
import { formatTime, fullTime } from '../words/format.ts';
import { actorName, eventText, isNotification } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { CommentForm, DeleteComment } from './comments.tsx';
import { isDecision, PastItem } from './past-item.tsx';

const RELATIONS: Record<ThreadNote['relation'], string> = {
  parent: 'Parent note',
  sibling: 'Another reply',
  reply: 'Reply to this note',
};

/** The other notes of the thread. `Content` already shows the parent, above the note. */
export function Thread({ detail }: { detail: Detail | undefined }) {
  const notes = detail?.thread.filter(({ relation }) => relation !== 'parent');
  return (
    <section class="thread">
      <h3 id="thread" tabIndex={-1}>
        Thread
      </h3>
      {!detail && <p class="hint">Loading…</p>}
      {notes?.length === 0 && <p class="hint">No other replies.</p>}
      <ul>
        {notes?.map((note) => (
          <li key={note.id} class={note.relation}>
            <p class="hint">
              {RELATIONS[note.relation]} by <MarkedText text={note.name || 'a guest'} />,{' '}
              {formatTime(note.received_at)} · <span class={`tag ${note.state}`}>{note.state}</span>
            </p>
            <MarkedText text={note.text} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function History({ detail, itemId }: { detail: Detail | undefined; itemId: string }) {
  const filters = { ...NO_FILTERS, subject: toSubject(itemId).id };
  return (
    <section class="history">
      <h3>History</h3>
      {detail?.history_before && (
        <button type="button" class="button quiet" onClick={() => void loadEarlierHistory(itemId)}>
          Earlier events
        </button>
      )}
      <ol>
        {detail?.history.map((event) => (
          <li key={event.event_id} class={event.type === 'CommentAdded' ? 'comment' : undefined}>
            <time dateTime={event.at} title={fullTime(event.at)}>
              {formatTime(event.at)}
            </time>{' '}
            <span>
              {eventText(event.type)}
              {!isNotification(event) && (
                <>
                  {detailsText(event)} by <bdi>{actorName(event.actor)}</bdi>
                </>
              )}
              {event.text && event.type !== 'NoteSubmitted' && (
                <MarkedText text={event.text} class="quoted" />
              )}
              {event.type === 'CommentAdded' && (
                <DeleteComment
                  comment={event}
                  subject={toSubjectPath(itemId)}
                  onDeleted={() => void refreshItem(itemId)}
                />
              )}
              {isDecision(event) && <PastItem itemId={itemId} event={event} />}
            </span>
          </li>
        ))}
      </ol>
      <a
        class="hint"
        href={viewAddress('audit', filters)}
        onClick={onPlainClick(() => showView('audit', filters))}
      >
        In the audit
      </a>
      <CommentForm
        key={itemId}
        id="comment"
        subject={toSubjectPath(itemId)}
        label="Comment for moderators"
        onAdded={() => void refreshItem(itemId)}
      />
    </section>
  );
}

function detailsText({ data }: HistoryEvent): string {
  const { policy, reason, kind, until } = data as Partial<Record<string, string>>;
  if (policy) return ` (${policyTitle(policy)})`;
  if (reason) return ` (${reasonName(reason)})`;
  const shared = kind ? ` (one ${kind})` : '';
  return until ? `${shared} until ${formatTime(until)}` : shared;
}
