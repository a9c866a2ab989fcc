import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import type { SealedPlace } from '../../services/pages/view.ts';
import { findLinks } from '../shared/links.ts';
import { AuthorName, foreign, repliesText, tidy } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { SealedLink } from '../site/parts.tsx';
import { isReported, ReportDialog } from './report.tsx';
import { toast } from './toast.tsx';
import type { Note } from './use-notes.ts';

interface NoteProps {
  note: Note;
  /** The heading: `h1` for the note that a page is about. */
  heading?: 'h1' | 'h3';
  /** When the note was approved (ISO 8601), by which lists are ordered; absent if not known yet. */
  approved: string | undefined;
  /** Where it is in the sealed log, on its own page. */
  sealed?: SealedPlace | undefined;
  /** How many replies the note has, where the page does not show them. */
  replies?: number;
  /** Whether a script runs. */
  live: boolean;
}

export function NoteItem({
  note,
  heading: Heading = 'h3',
  approved,
  sealed,
  replies,
  live,
}: NoteProps) {
  const title = `note-${note.id}`;
  const href = `/notes/${note.id}`;
  const written = new Date(note.created_at * 1000).toISOString();
  return (
    <article class="note" aria-labelledby={title} tabIndex={-1}>
      <header>
        <Heading id={title}>
          <AuthorName name={note.name} byMember={note.attribution === 'member'} />
        </Heading>
        <a class="when" href={href}>
          <When at={approved ?? written} />
        </a>
      </header>
      <Message text={note.message} linked />
      {Heading === 'h1' && (
        <p class="hint">
          Written <When at={written} />
          {sealed && (
            <>
              {' · '}
              <SealedLink sealed={sealed} />
            </>
          )}
        </p>
      )}
      <div class="actions">
        {replies !== undefined && (
          <>
            {replies > 0 && (
              <a class="button quiet" href={href} aria-describedby={title}>
                {repliesText(replies)}
              </a>
            )}
            <a class="button quiet" href={`${href}#reply`} aria-describedby={title}>
              Reply
            </a>
          </>
        )}
        {live ? (
          <Report note={note} title={title} />
        ) : (
          <a
            class="button quiet"
            href={`/report?type=note&id=${note.id}`}
            rel="nofollow"
            aria-describedby={title}
          >
            Report
          </a>
        )}
      </div>
    </article>
  );
}

function Report({ note, title }: { note: Note; title: string }) {
  const [reporting, setReporting] = useState(false);
  const reported = isReported(note.id);
  return (
    <>
      <button
        type="button"
        class="button quiet"
        aria-describedby={title}
        aria-disabled={reported ? 'true' : undefined}
        onClick={() => setReporting(!reported)}
      >
        {reported ? 'Reported' : 'Report'}
      </button>
      {reporting && (
        <ReportDialog
          note={note}
          onClose={(sent) => {
            setReporting(false);
            if (sent) toast('Thank you. A moderator will review', note.message);
          }}
        />
      )}
    </>
  );
}

interface MessageProps {
  text: string;
  id?: string;
  /** Whether web addresses are links: in approved notes. */
  linked?: boolean;
}

/** The text of a note, always rendered as plain text. */
export function Message({ text, id, linked = false }: MessageProps) {
  const shown = hasVisibleText(text) && tidy(text);
  return (
    <p {...foreign(text)} class="message foreign" id={id}>
      {shown ? (
        linked ? (
          <LinkedText text={shown} />
        ) : (
          shown
        )
      ) : (
        <span class="hint">(no visible text)</span>
      )}
    </p>
  );
}

/** A text by others that a moderator has approved, with its web addresses as links. */
function LinkedText({ text }: { text: string }) {
  const pieces: ComponentChildren[] = [];
  let done = 0;
  for (const { start, end, href } of findLinks(text)) {
    pieces.push(
      text.slice(done, start),
      <a href={href} rel="nofollow ugc noopener" dir="ltr" class="foreign">
        {text.slice(start, end)}
      </a>,
    );
    done = end;
  }
  pieces.push(text.slice(done));
  return <>{pieces}</>;
}
