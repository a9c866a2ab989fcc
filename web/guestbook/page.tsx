import { Fragment } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { LiveView, ViewOf } from '../../services/pages/view.ts';
import { EXPERIENCES, experienceName } from '../shared/display-names.ts';
import { focusIfLost } from '../shared/field.tsx';
import { Announcer, announce } from '../shared/live-region.tsx';
import { toQuote, UserText } from '../shared/text.tsx';
import { LocalTimes } from '../shared/time.tsx';
import { Frame, Site } from '../site/frame.tsx';
import { AccountButtons, AccountDialog, AccountLinks } from './account-controls.tsx';
import type { Proof } from './key-fields.tsx';
import { takeLinkedProof } from './key-file.ts';
import { type DialogName, Me } from './me.tsx';
import { NoteItem } from './note-item.tsx';
import { NotesList } from './notes-list.tsx';
import { OwnNotesList } from './own-notes.tsx';
import { type OwnNotes, useOwnNotes } from './own-notes-store.ts';
import { RenewalNotice } from './renewal.tsx';
import { Replies } from './replies.tsx';
import { type Session, useMembership } from './session.ts';
import { Toaster } from './toast.tsx';
import { useNotes } from './use-notes.ts';
import { WriteNote } from './write-note.tsx';

/** False on the server and until the script has taken the page over. */
function useLive(): boolean {
  const [live, setLive] = useState(false);
  useEffect(() => setLive(true), []);
  return live;
}

/** A guestbook or a note with its replies. The server renders it, and a script takes it over. */
export function GuestbookPage({ view }: { view: LiveView }) {
  const live = useLive();
  const [banner, setBanner] = useState('');
  const showBanner = useCallback((text: string) => {
    setBanner(text);
    announce(text);
  }, []);
  const membership = useMembership(showBanner);
  const { session } = membership;
  useEffect(() => {
    if (session) setBanner('');
  }, [session?.handle]);
  const own = useOwnNotes(session);
  const [dialog, setDialog] = useState<DialogName>();
  const [linked, setLinked] = useState<Proof>();
  useEffect(() => {
    const proof = takeLinkedProof();
    if (!proof) return;
    setLinked(proof);
    setDialog('sign-in');
  }, []);
  const account = useRef<HTMLSpanElement>(null);
  /** After joining or signing out, the button that did it is replaced by others. */
  const keepFocus = () => {
    requestAnimationFrame(() => {
      focusIfLost(account.current?.querySelector<HTMLElement>('a, button'));
    });
  };
  const close = () => {
    setDialog(undefined);
    setLinked(undefined);
    keepFocus();
  };
  const openDialog = (name: DialogName) => {
    setBanner('');
    setDialog(name);
  };
  const place = { session, own, live };

  return (
    <LocalTimes.Provider value={live}>
      <Frame
        section={view.kind === 'me' ? undefined : 'guestbook'}
        feed={feedOf(view)}
        account={
          live ? (
            <span ref={account}>
              <AccountButtons session={session} here={view.kind === 'me'} onOpen={openDialog} />
            </span>
          ) : (
            <AccountLinks />
          )
        }
      >
        {banner && <p class="box look">{banner}</p>}
        {view.kind === 'guestbook' && <Guestbook view={view} {...place} />}
        {view.kind === 'thread' && <Thread view={view} {...place} />}
        {view.kind === 'me' && (
          <Me
            membership={membership}
            own={own}
            live={live}
            onOpen={openDialog}
            onSignedOut={keepFocus}
          />
        )}
        {session && membership.endsSoon && (
          <RenewalNotice
            membership={membership}
            session={session}
            onSignIn={() => openDialog('sign-in')}
          />
        )}
      </Frame>
      <Announcer />
      <Toaster />
      <AccountDialog
        name={dialog}
        membership={membership}
        linked={linked}
        onClose={close}
        onRecover={() => setDialog('recover')}
        onDeleted={() => {
          membership.clear();
          close();
          showBanner('Your account is deleted. Your personal data is erased within minutes.');
        }}
      />
    </LocalTimes.Provider>
  );
}

/** Path of the page's feeds without their suffix. */
function feedOf(view: LiveView): string | undefined {
  if (view.kind === 'me') return undefined;
  return view.kind === 'guestbook' ? `/guestbook/${view.experience}` : `/notes/${view.note.id}`;
}

interface Place {
  session: Session | undefined;
  own: OwnNotes;
  live: boolean;
}

function Guestbook({ view, session, own, live }: Place & { view: ViewOf<'guestbook'> }) {
  const { experience, newest, older, usualWait } = view;
  const site = useContext(Site);
  const notes = useNotes({ experience, parentId: null, rendered: view.notes, newest, own });
  return (
    <>
      <div class="intro">
        <p class="about">
          <UserText text={site.about} />
        </p>
        <h1>{experienceName(experience)}</h1>
        <p class="line">
          <UserText text={site.guestbooks[experience]} />
        </p>
        <nav class="books" aria-label="Guestbooks">
          Other guestbooks:{' '}
          {EXPERIENCES.filter(({ id }) => id !== experience).map(({ id, name, href }, index) => (
            <Fragment key={id}>
              {index > 0 && ', '}
              <a href={href} title={site.guestbooks[id]}>
                {name}
              </a>
            </Fragment>
          ))}
        </nav>
      </div>
      <p class="notice">
        {`Leave a note. A moderator reads it first${usualWait ? `, usually ${usualWait}` : ''}. Names are not verified.`}
      </p>
      <WriteNote experience={experience} parentId={null} session={session} own={own} live={live} />
      <OwnNotesList own={own} session={session} brief />
      <NotesList
        notes={notes}
        listed={view.listed}
        live={live}
        empty={newest ? 'No notes here yet. Yours could be the first.' : 'No older notes.'}
        older={older}
      />
    </>
  );
}

/** Whether the address asks for the form of a reply. */
const asksForReply = () => location.hash === '#reply';

function Thread({ view, session, own, live }: Place & { view: ViewOf<'thread'> }) {
  const { note, parent, sealed, earlier, later } = view;
  const { experience, id } = note;
  const rendered = view.replies;
  const replies = useNotes({ experience, parentId: id, rendered, newest: !later, own });
  const guestbook = EXPERIENCES.find((one) => one.id === experience);
  return (
    <>
      <p class="kind">
        {parent ? (
          <>
            In reply to <UserText text={parent.name} />:{' '}
            <a href={`/notes/${parent.id}`}>
              <UserText text={toQuote(parent.message) || 'a note'} />
            </a>
          </>
        ) : (
          <>
            Note in <a href={guestbook?.href ?? '/'}>{experienceName(experience)}</a>
          </>
        )}
      </p>
      <NoteItem
        note={note}
        heading="h1"
        approved={view.listed[id]?.approved}
        sealed={sealed}
        live={live}
      />
      {!parent && (
        <>
          <WriteNote
            experience={experience}
            parentId={id}
            session={session}
            own={own}
            live={live}
            open={live && asksForReply()}
          />
          <OwnNotesList own={own} session={session} brief />
          <Replies
            replies={replies}
            count={Math.max(view.listed[id]?.replies ?? 0, replies.length)}
            path={`/notes/${id}`}
            listed={view.listed}
            live={live}
            earlier={earlier}
            later={later}
          />
        </>
      )}
    </>
  );
}
