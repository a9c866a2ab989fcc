import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type Item,
  isMember,
  isNote,
  type NoteItem,
  type RecordItem,
  type ThreadNote,
} from '../words/api-model.ts';
import { isErased } from '../words/labels.ts';
import { type FoundPart, MarkedText } from '../words/marked-text.tsx';
import { Membership } from './membership.tsx';
import { Shielded } from './shielded.tsx';

interface ContentProps<Shown = Item> {
  item: Shown;
  thread: ThreadNote[] | undefined;
  /** The search that found the item, or an empty text. */
  query: string;
}

/** The text of an item; for a reply, also the text of its parent. */
export function Content({ item, ...rest }: ContentProps) {
  if (isErased(item))
    return (
      <div class="text">
        <em>The text was erased.</em>
      </div>
    );
  if (isMember(item)) return <Membership item={item} />;
  return isNote(item) ? <NoteText item={item} {...rest} /> : <RecordText record={item} />;
}

function NoteText({ item: note, thread, query }: ContentProps<NoteItem>) {
  const parent = thread?.find(({ relation }) => relation === 'parent');
  return (
    <>
      {note.parent && (
        <blockquote class="parent">
          <p class="hint">
            In reply to {parent && <MarkedText text={parent.name || 'a guest'} />}
            {note.parent.public ? '' : ' (not public)'}
          </p>
          <MarkedText text={note.parent.text} />
        </blockquote>
      )}
      <Shielded item={note}>
        <Folded key={note.id} class="text" whole={query !== ''}>
          <MarkedText text={note.text} query={query} found={foundParts(note)} />
        </Folded>
      </Shielded>
    </>
  );
}

/** The parts of the text that findings refer to; the service counts code points. */
function foundParts({ text, screening }: NoteItem): FoundPart[] {
  const places = [0];
  for (const character of text) places.push((places.at(-1) ?? 0) + character.length);
  const place = (count: number) => places[count] ?? text.length;
  return screening.findings.flatMap(({ text: finding, spans }) =>
    spans.map(({ start, end }) => ({ part: [place(start), place(end)], finding })),
  );
}

const PUBLIC_AT: Partial<Record<RecordItem['subject']['type'], string>> = {
  profile: '/api/v1/agents',
  artifact: '/api/v1/artifacts',
  case: '/api/v1/cases',
};

/** The text of a record; of a long context packet, only the first 8,000 characters of content. */
function RecordText({
  record: { id, subject, title, text, public: isPublic },
}: {
  record: RecordItem;
}) {
  const at = PUBLIC_AT[subject.type];
  return (
    <>
      <p class="text title">
        <MarkedText text={title} />
      </p>
      <Folded key={id} class="text whole" whole={false}>
        <MarkedText text={text} />
      </Folded>
      {isPublic && at && (
        <p>
          <a href={`${at}/${subject.id}`} target="_blank" rel="noreferrer">
            View public page
          </a>
        </p>
      )}
      {!isPublic && <p class="hint">This is not public.</p>}
    </>
  );
}

/**
 * A text, of which the first 14 lines are shown until the reader wants all. The parent sets `key`,
 * because the next text is folded again.
 */
function Folded({ class: name, whole, children }: FoldedProps) {
  const text = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(whole);
  const [isLong, setLong] = useState(false);
  useLayoutEffect(() => {
    const { scrollHeight = 0, clientHeight = 0 } = text.current ?? {};
    // When all is shown, nothing can be measured, and the button stays.
    if (!open) setLong(scrollHeight > clientHeight + 1);
  });
  return (
    <>
      <div ref={text} class={`${name} ${open ? '' : isLong ? 'folded long' : 'folded'}`}>
        {children}
      </div>
      {isLong && (
        <button
          type="button"
          class="button quiet unfold"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Show less' : 'Show all'}
        </button>
      )}
    </>
  );
}

interface FoldedProps {
  class: string;
  /** Shows all from the beginning. */
  whole: boolean;
  children: ComponentChildren;
}
