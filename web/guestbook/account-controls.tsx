import { DeleteDialog } from './account.tsx';
import { JoinDialog } from './join.tsx';
import type { Proof } from './key-fields.tsx';
import type { DialogName } from './me.tsx';
import { RecoverDialog } from './recover.tsx';
import type { Membership, Session } from './session.ts';
import { SignInDialog } from './sign-in.tsx';

/** The links of a page without its script, instead of `AccountButtons`. */
export function AccountLinks() {
  return (
    <span>
      <a class="button quiet" href="/me">
        Sign in
      </a>
      <a class="button" href="/me">
        Join
      </a>
    </span>
  );
}

interface AccountButtonsProps {
  session: Session | undefined;
  /** Whether the page is the one that the link leads to. */
  here: boolean;
  onOpen: (dialog: DialogName) => void;
}

export function AccountButtons({ session, here, onOpen }: AccountButtonsProps) {
  return session ? (
    <a class="button handle" href="/me" aria-current={here ? 'page' : undefined}>
      <span class="visually-hidden">Your account, </span>
      {session.handle}
    </a>
  ) : (
    <>
      <button type="button" class="button quiet" onClick={() => onOpen('sign-in')}>
        Sign in
      </button>
      <button type="button" class="button" onClick={() => onOpen('join')}>
        Join
      </button>
    </>
  );
}

interface AccountDialogProps {
  /** The dialog that is open, if any. */
  name: DialogName | undefined;
  membership: Membership;
  /** What a link fills in the form to sign in. */
  linked: Proof | undefined;
  onClose: () => void;
  onRecover: () => void;
  onDeleted: () => void;
}

export function AccountDialog({
  name,
  membership,
  linked,
  onClose,
  onRecover,
  onDeleted,
}: AccountDialogProps) {
  const { session } = membership;
  if (name === 'join') return <JoinDialog membership={membership} onClose={onClose} />;
  if (name === 'sign-in')
    return (
      <SignInDialog
        membership={membership}
        linked={linked}
        onClose={onClose}
        onRecover={onRecover}
        onDeleted={onDeleted}
      />
    );
  if (name === 'recover')
    return <RecoverDialog membership={membership} onClose={onClose} onDeleted={onDeleted} />;
  if (name === 'delete' && session)
    return (
      <DeleteDialog
        session={session}
        knownKey={membership.signInKey()}
        onClose={onClose}
        onDeleted={onDeleted}
      />
    );
  return null;
}
