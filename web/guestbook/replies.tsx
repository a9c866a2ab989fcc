import type { Listed } from '../../services/pages/view.ts';
import { repliesText } from '../shared/text.tsx';
import { Empty } from '../site/parts.tsx';
import { NoteItem } from './note-item.tsx';
import type { Note } from './use-notes.ts';

/** From so many replies on a page, links lead from its first one to its last and back. */
const MIN_JUMP = 5;

interface RepliesProps {
  replies: readonly Note[];
  /** Of the whole thread. */
  count: number;
  /** The address of the thread's first page. */
  path: string;
  listed: Listed;
  live: boolean;
  earlier: string | undefined;
  later: string | undefined;
}

/** The replies to a note in reading order: the oldest first. */
export function Replies({ replies, count, path, listed, live, earlier, later }: RepliesProps) {
  const [first, last] = [replies[0], replies.at(-1)];
  const jumps = replies.length >= MIN_JUMP;
  return (
    <section aria-labelledby="notes-title">
      <div class="replies-head">
        <h2 id="notes-title">{count === 0 ? 'Replies' : repliesText(count)}</h2>
        {later ? (
          <a href={`${path}?last`}>Last reply</a>
        ) : (
          jumps && last && <a href={`#note-${last.id}`}>Last reply</a>
        )}
      </div>
      {replies.length === 0 && <Empty>No replies yet.</Empty>}
      {replies.length > 0 && (
        <ol class="replies">
          {replies.map((note) => (
            <li key={note.id}>
              <NoteItem note={note} approved={listed[note.id]?.approved} live={live} />
            </li>
          ))}
        </ol>
      )}
      {(earlier || later || jumps) && (
        <nav class="pager" aria-label="Replies">
          {earlier ? (
            <a href={path}>First reply</a>
          ) : (
            jumps && first && <a href={`#note-${first.id}`}>First reply</a>
          )}
          {earlier && (
            <a class="button" rel="prev" href={earlier}>
              Earlier replies
            </a>
          )}
          {later && (
            <a class="button" rel="next" href={later}>
              Later replies
            </a>
          )}
        </nav>
      )}
    </section>
  );
}
