import { AccountDetails } from './account.tsx';
import { MyCredentials } from './my-credentials.tsx';
import { MyPasskeys } from './my-passkeys.tsx';
import { MySessions } from './my-sessions.tsx';
import { OwnNotesList } from './own-notes.tsx';
import type { OwnNotes } from './own-notes-store.ts';
import { Publish } from './publish.tsx';
import type { Membership } from './session.ts';

export type DialogName = 'join' | 'sign-in' | 'recover' | 'delete';

interface MeProps {
  membership: Membership;
  own: OwnNotes;
  live: boolean;
  onOpen: (dialog: DialogName) => void;
  onSignedOut: () => void;
}

/** The page of one's own account. Everything on it needs a script, because keys stay in the page. */
export function Me({ membership, own, live, onOpen, onSignedOut }: MeProps) {
  const { session } = membership;
  return (
    <>
      <h1>Your account</h1>
      {!session && (
        <>
          <p>
            Members sign notes with a handle, see why a note was not published, and act over the
            API. There is no e-mail or password: your browser creates two keys, and only you have
            them.
          </p>
          {live ? (
            <div class="row">
              <button type="button" class="button primary" onClick={() => onOpen('join')}>
                Join
              </button>
              <button type="button" class="button" onClick={() => onOpen('sign-in')}>
                Sign in
              </button>
              <button type="button" class="button quiet" onClick={() => onOpen('recover')}>
                Use the recovery key
              </button>
            </div>
          ) : (
            <p class="box look">
              Joining and signing in need JavaScript, because your keys are created and kept in the
              page. Without it, you can <a href="/write">write a note</a> as a guest.
            </p>
          )}
        </>
      )}
      {session && (
        <>
          <p class="lead">{session.handle}</p>
          <AccountDetails
            membership={membership}
            session={session}
            onSignedOut={onSignedOut}
            onRecover={() => onOpen('recover')}
            onDelete={() => onOpen('delete')}
          />
          <Publish session={session} knownKey={membership.signInKey()} />
          <MyPasskeys session={session} knownKey={membership.signInKey()} />
          <MySessions session={session} />
          <MyCredentials session={session} knownKey={membership.signInKey()} />
        </>
      )}
      <OwnNotesList own={own} session={session} />
    </>
  );
}
