import { useRef, useState } from 'preact/hooks';
import { announce, showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import {
  type HistoryEvent,
  type Item,
  isMember,
  isNote,
  type ThreadNote,
  toPath,
  withItemId,
} from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { formatTime, fullTime, plural } from '../words/format.ts';
import { authorName, isNotification } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { Content } from './content.tsx';
import { Flags } from './flags.tsx';

interface PastDetail {
  item: Item;
  thread?: ThreadNote[];
}

/** Acts of moderators that decide nothing. */
const NO_DECISIONS = [
  'CommentAdded',
  'CommentDeleted',
  'ClaimTakenOver',
  'NotesFolded',
  'NotesUnfolded',
];

/** Whether a moderator decided something with this event. */
export const isDecision = (event: HistoryEvent): boolean =>
  event.actor.type === 'moderator' && !isNotification(event) && !NO_DECISIONS.includes(event.type);

/** Times are exact to the millisecond, so this is the last moment before the event. */
const momentBefore = ({ at }: HistoryEvent): string => new Date(Date.parse(at) - 1).toISOString();

/** The item as it was when a moderator decided, without what was erased since. */
export function PastItem({ itemId, event }: { itemId: string; event: HistoryEvent }) {
  const [seen, setSeen] = useState<PastDetail>();
  const reading = useRef(false);
  const at = momentBefore(event);

  async function read(): Promise<void> {
    if (reading.current) return;
    reading.current = true;
    try {
      const path = `${toPath(itemId)}?as_of=${encodeURIComponent(at)}`;
      const { item, thread } = await call<PastDetail>('GET', path);
      setSeen({ item: withItemId(item), ...(thread ? { thread } : {}) });
      announce('This is what the moderator saw.');
    } catch (error) {
      showToast(failureText(toFailure(error)), { tone: 'alert' });
    }
    reading.current = false;
  }

  return (
    <>
      <button
        type="button"
        class="button quiet past-item"
        aria-expanded={seen !== undefined}
        onClick={() => (seen ? setSeen(undefined) : void read())}
      >
        What the moderator saw
      </button>
      {seen && <Seen {...seen} at={at} />}
    </>
  );
}

function Seen({ item, thread, at }: PastDetail & { at: string }) {
  return (
    <section class="box past" aria-label="What the moderator saw">
      <p class="hint">
        <time dateTime={at} title={fullTime(at)}>
          {formatTime(at)}
        </time>{' '}
        · <span class={`tag ${item.state}`}>{item.state}</span> ·{' '}
        <MarkedText text={authorName(item)} />
        {isNote(item) &&
          item.author.kind === 'member' &&
          `: ${plural(item.author.approved, 'note')} approved, ${item.author.rejected} rejected or removed`}
      </p>
      <Content item={item} thread={thread} query="" />
      {!isMember(item) && <Flags item={item} />}
      <p class="hint">
        Without words that were erased since. Claims, and what came from the same address, are not
        kept.
      </p>
    </section>
  );
}
