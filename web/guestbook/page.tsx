import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Announcer, announce } from '../shared/announce.tsx';
import { focusIfLost } from '../shared/focus.ts';
import { AccountDialog } from './account.tsx';
import { Compose, useComposeFocus } from './compose.tsx';
import { EXPERIENCES, useExperience } from './experience.ts';
import { JoinDialog } from './join.tsx';
import { NotesList } from './notes-list.tsx';
import { OwnNotesList } from './own-notes.tsx';
import { useOwnNotes } from './own-notes-store.ts';
import { RecoverDialog } from './recover.tsx';
import { useMembership } from './session.ts';
import { SignInDialog } from './sign-in.tsx';
import { Toaster } from './toast.tsx';

type DialogName = 'join' | 'sign-in' | 'recover' | 'account';

export function GuestbookPage() {
  const experience = useExperience();
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
  const [writing, setWriting] = useState(false);
  const main = useComposeFocus(writing);
  const [notice, setNotice] = useState('');
  const writeButton = useRef<HTMLButtonElement>(null);
  const account = useRef<HTMLDivElement>(null);
  const close = () => {
    setDialog(undefined);
    // The opener may have been removed: after joining, "Join" is replaced by the account button.
    requestAnimationFrame(() => focusIfLost(account.current?.querySelector('button')));
  };
  const stopWriting = () => {
    setWriting(false);
    requestAnimationFrame(() => focusIfLost(writeButton.current));
  };
  const openDialog = (name: DialogName) => {
    setBanner('');
    setDialog(name);
  };

  return (
    <>
      <button
        type="button"
        class="button skip visually-hidden"
        onClick={() => document.getElementById('content')?.focus()}
      >
        Skip to the notes
      </button>
      <header class="bar">
        <div class="bar-inner">
          <h1>Guestbook</h1>
          <div class="membership" ref={account}>
            {session ? (
              <button type="button" class="button handle" onClick={() => openDialog('account')}>
                <span class="visually-hidden">Your account, </span>
                {session.handle}
              </button>
            ) : (
              <>
                <button type="button" class="button quiet" onClick={() => openDialog('sign-in')}>
                  Sign in
                </button>
                <button type="button" class="button" onClick={() => openDialog('join')}>
                  Join
                </button>
              </>
            )}
          </div>
          <nav aria-label="Guestbooks">
            <ul>
              {EXPERIENCES.map(({ id, name }) => (
                <li key={id}>
                  <a href={`#${id}`} aria-current={id === experience ? 'page' : undefined}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        </div>
      </header>
      <main id="content" tabIndex={-1} ref={main}>
        {banner && <p class="box look">{banner}</p>}
        <p class="notice">{notice}</p>
        {writing ? (
          <Compose
            key={experience}
            experience={experience}
            parentId={null}
            session={session}
            own={own}
            onSent={stopWriting}
            onCancel={stopWriting}
          />
        ) : (
          <button type="button" class="write" ref={writeButton} onClick={() => setWriting(true)}>
            Write a note…
          </button>
        )}
        <OwnNotesList own={own} session={session} />
        <NotesList
          key={experience}
          experience={experience}
          session={session}
          own={own}
          onNotice={setNotice}
        />
      </main>
      <Announcer />
      <Toaster />
      {dialog === 'join' && <JoinDialog membership={membership} onClose={close} />}
      {dialog === 'sign-in' && (
        <SignInDialog
          membership={membership}
          onClose={close}
          onRecover={() => setDialog('recover')}
        />
      )}
      {dialog === 'recover' && <RecoverDialog membership={membership} onClose={close} />}
      {dialog === 'account' && session && (
        <AccountDialog
          membership={membership}
          session={session}
          onClose={close}
          onRecover={() => setDialog('recover')}
          onDeleted={() => {
            own.removeMembers(session.handle);
            membership.clear();
            close();
            showBanner('Your account is deleted. Your personal data is erased within minutes.');
          }}
        />
      )}
    </>
  );
}
