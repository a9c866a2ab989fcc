import { useRef, useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { Alert, announce } from '../shared/live-region.tsx';
import { randomUuid } from '../shared/random.ts';
import { UserText } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { type Proof, ProofFields, proofErrors, toKey } from './key-fields.tsx';
import { saveFile } from './key-file.ts';
import { type Failure, failureText } from './problem-text.ts';
import type { Session } from './session.ts';
import { type TemporaryCredential, temporaryCredential } from './temporary-credential.ts';

interface ListedCredential {
  credential_id: string;
  label?: string;
  scopes: string[];
  expires_at: number;
  last_used_on?: string;
}

interface CredentialsProps {
  session: Session;
  /** The sign-in key, if the member entered it since the page was opened. */
  knownKey: string | undefined;
}

const SCOPES = ['credential:manage', 'account:export'];

/**
 * The member's active credentials and the export. Both need a credential, which the sign-in key
 * makes for ten minutes.
 */
export function MyCredentials({ session, knownKey }: CredentialsProps) {
  const { others, failure, open, show, revoke, exportAccount } = useCredentials(session);
  const [asking, setAsking] = useState(false);
  return (
    <section class="stack tight" aria-labelledby="credentials">
      <h2 id="credentials">Credentials and your data</h2>
      {failure && <Alert>{failureText(failure)}</Alert>}
      {!others && (
        <Introduction onShow={() => (knownKey ? void show(knownKey) : setAsking(true))} />
      )}
      {others && (
        <>
          {others.length === 0 && <p>No other credential is active.</p>}
          <ul class="lines">
            {others.map((one) => (
              <li key={one.credential_id}>
                <Credential
                  credential={one}
                  onRevoke={() =>
                    void revoke({ credential_id: one.credential_id }, 'Credential revoked')
                  }
                />
              </li>
            ))}
          </ul>
          <div class="row">
            {others.length > 1 && (
              <button
                type="button"
                class="button danger"
                onClick={() => void revoke({ all_others: true }, 'All credentials revoked')}
              >
                Revoke all of them
              </button>
            )}
            <button type="button" class="button" onClick={() => void exportAccount()}>
              Download my data
            </button>
          </div>
        </>
      )}
      {asking && <KeyDialog session={session} onKey={open} onClose={() => setAsking(false)} />}
    </section>
  );
}

/** The member's other credentials, read and changed with one that lasts for ten minutes. */
function useCredentials(session: Session) {
  const own = useRef<TemporaryCredential>(undefined);
  const [credentials, setCredentials] = useState<ListedCredential[]>();
  const [failure, setFailure] = useState<Failure>();

  async function open(signInKey: string): Promise<Failure | undefined> {
    const credential = own.current ?? temporaryCredential(session.id, SCOPES, 'The website');
    own.current = credential;
    const made = await credential.request(signInKey);
    if (made.kind !== 'ok') return made;
    return load();
  }

  async function load(): Promise<Failure | undefined> {
    const answer = await call<{ credentials: ListedCredential[] }>(
      'GET',
      '/api/v1/me/credentials?state=active&limit=100',
      { headers: own.current?.headers() ?? {} },
    );
    if (answer.kind !== 'ok') {
      // Its ten minutes are over, so the next attempt makes another.
      own.current = undefined;
      setCredentials(undefined);
      return answer;
    }
    setCredentials(answer.body.credentials);
    return undefined;
  }

  async function revoke(body: object, confirmation: string): Promise<void> {
    const answer = await call('POST', '/api/v1/me/credentials/revoke', {
      headers: { ...own.current?.headers(), 'idempotency-key': randomUuid() },
      body,
    });
    if (answer.kind === 'ok') announce(confirmation);
    setFailure(answer.kind === 'ok' ? await load() : answer);
  }

  async function exportAccount(): Promise<void> {
    const answer = await call<object>('GET', '/api/v1/me/export', {
      headers: own.current?.headers() ?? {},
    });
    if (answer.kind === 'ok')
      saveFile(`guestbook-${session.handle}.json`, JSON.stringify(answer.body, null, 2));
    setFailure(answer.kind === 'ok' ? undefined : answer);
  }

  return {
    /** Undefined until `open` has succeeded. */
    others: credentials?.filter(({ credential_id: id }) => id !== own.current?.id),
    failure,
    open,
    /** Opens with a key that the member entered before, and keeps the failure. */
    show: async (signInKey: string) => setFailure(await open(signInKey)),
    revoke,
    exportAccount,
  };
}

function Introduction({ onShow }: { onShow: () => void }) {
  return (
    <>
      <p>
        Programs act for you with credentials. To list and revoke them, and to download what the
        service holds on you, this page makes one for ten minutes with your sign-in key.
      </p>
      <p>
        <button type="button" class="button" onClick={onShow}>
          Show my credentials
        </button>
      </p>
    </>
  );
}

interface CredentialProps {
  credential: ListedCredential;
  onRevoke: () => void;
}

function Credential({ credential, onRevoke }: CredentialProps) {
  const { credential_id: id, label, scopes, expires_at, last_used_on } = credential;
  return (
    <>
      <p id={`credential-${id}`}>
        {label ? <UserText text={label} /> : <code class="code">{id.slice(0, 8)}</code>}, until{' '}
        <When at={new Date(expires_at * 1000).toISOString()} />,{' '}
        {last_used_on ? `last used on ${last_used_on}` : 'never used'}
      </p>
      <p class="hint">{scopes.join(', ')}</p>
      <button
        type="button"
        class="button quiet"
        aria-describedby={`credential-${id}`}
        onClick={onRevoke}
      >
        Revoke
      </button>
    </>
  );
}

interface KeyProps {
  session: Session;
  onKey: (signInKey: string) => Promise<Failure | undefined>;
  onClose: () => void;
}

function KeyDialog({ session, onKey, onClose }: KeyProps) {
  const [proof, setProof] = useState<Proof>({ id: session.id, key: '' });
  const errors = proofErrors(proof);
  const state = useForm({
    complete: !errors.id && !errors.key,
    async send() {
      const failed = await onKey(toKey(proof.key));
      if (!failed) onClose();
      return failed;
    },
  });
  return (
    <FormDialog
      title="Your sign-in key"
      onClose={onClose}
      state={state}
      hint="We never store your key."
      buttons={
        <button type="submit" class="button primary">
          Show my credentials
        </button>
      }
    >
      <ProofFields
        proof={proof}
        onProof={setProof}
        which="sign_in_key"
        handle={session.handle}
        errors={state.tried ? errors : {}}
      />
    </FormDialog>
  );
}
