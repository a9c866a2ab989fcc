import { useEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { call } from '../shared/api.ts';
import { Field } from '../shared/field.tsx';
import { randomUuid } from '../shared/random.ts';
import { FormDialog, useForm } from './form-dialog.tsx';
import { type Proof, ProofFields, proofErrors, toKey } from './key-fields.tsx';
import { type Failure, fieldError } from './problem-text.ts';
import {
  FORMS,
  linkedForm,
  type PublicationKind,
  pathOf,
  readProfile,
  toBody,
  type Values,
} from './publication-forms.ts';
import type { Session } from './session.ts';
import { type TemporaryCredential, temporaryCredential } from './temporary-credential.ts';

const SCOPES: Readonly<Record<PublicationKind, string>> = {
  profile: 'profile:write',
  case: 'case:create',
  case_note: 'case:note',
};

interface PublishProps {
  session: Session;
  /** The sign-in key, if the member entered it on this page. */
  knownKey: string | undefined;
}

/** What people publish by the operations that programs use: a profile, a case, a note on a case. */
export function Publish({ session, knownKey }: PublishProps) {
  const [form, setForm] = useState<ReturnType<typeof linkedForm>>();
  const [profile, setProfile] = useState<Values>({});
  useEffect(() => setForm(linkedForm()), []);
  useEffect(() => {
    void readProfile(session).then(setProfile);
  }, [session.id]);
  const close = () => {
    setForm(undefined);
    history.replaceState(null, '', location.pathname);
  };
  return (
    <section class="stack tight" aria-labelledby="publish">
      <h2 id="publish">Publish</h2>
      <p>
        A profile, a case and a note on a case are public when you send them. Moderators can take
        them down.
      </p>
      <div class="row">
        <button type="button" class="button" onClick={() => setForm({ kind: 'profile' })}>
          {profile.display_name ? 'Change my profile' : 'Publish a profile'}
        </button>
        <button type="button" class="button" onClick={() => setForm({ kind: 'case' })}>
          Open a case
        </button>
      </div>
      {form && (
        <PublicationDialog
          key={form.kind === 'profile' ? JSON.stringify(profile) : form.kind}
          {...form}
          before={form.kind === 'profile' ? profile : {}}
          session={session}
          knownKey={knownKey}
          onClose={close}
        />
      )}
    </section>
  );
}

interface DialogProps extends PublishProps {
  kind: PublicationKind;
  caseId?: string;
  before: Values;
  onClose: () => void;
}

function PublicationDialog({ kind, caseId, before, session, knownKey, onClose }: DialogProps) {
  const { title, send, fields } = FORMS[kind];
  const [values, setValues] = useState<Values>(before);
  const [agreed, setAgreed] = useState(false);
  const [proof, setProof] = useState<Proof>({ id: session.id, key: knownKey ?? '' });
  const publish = usePublication(session, kind, caseId);
  const keyErrors = proofErrors(proof);
  const missing = (name: string) => !hasVisibleText(values[name] ?? '');
  const empty = fields.filter(({ name, optional }) => !optional && missing(name));
  const state = useForm({
    complete: empty.length === 0 && agreed && !keyErrors.id && !keyErrors.key,
    async send() {
      const answer = await publish(toKey(proof.key), values);
      if (answer.kind !== 'ok') return answer;
      location.assign(addressOf(kind, session.handle, answer.body.case?.id));
      return undefined;
    },
  });
  const { tried, busy, failure } = state;
  const errorOf = (name: string) => {
    if (tried && empty.some((field) => field.name === name)) return 'Write something here.';
    return issueOf(failure, name);
  };
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      state={state}
      hideFailure={fields.some(({ name }) => issueOf(failure, name))}
      buttons={
        <button type="submit" class="button primary" aria-disabled={busy ? 'true' : undefined}>
          {busy ? 'Publishing…' : send}
        </button>
      }
      hint={knownKey ? '' : 'We never store your key.'}
    >
      {fields.map(({ name, list: _, ...field }) => (
        <Field
          key={name}
          name={name}
          {...field}
          value={values[name] ?? ''}
          onValue={(value) => {
            state.clearFailure();
            setValues({ ...values, [name]: value });
          }}
          error={errorOf(name)}
        />
      ))}
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            checked={agreed}
            aria-invalid={tried && !agreed ? 'true' : undefined}
            aria-describedby={tried && !agreed ? 'agreed-error' : undefined}
            onChange={(event) => setAgreed(event.currentTarget.checked)}
          />
          Publish this under the policy
        </label>
        <p class="hint">
          <a href="/about">About and policy</a>
        </p>
        {tried && !agreed && (
          <span class="error" id="agreed-error">
            Tick this to publish.
          </span>
        )}
      </div>
      {!knownKey && (
        <ProofFields
          proof={proof}
          onProof={setProof}
          which="sign_in_key"
          handle={session.handle}
          errors={tried ? keyErrors : {}}
        />
      )}
    </FormDialog>
  );
}

/** The first thing that the service says about a field, or about one of its lines. */
function issueOf(failure: Failure | undefined, name: string): string | undefined {
  if (failure?.kind !== 'problem') return undefined;
  const path = Object.keys(failure.issues).find(
    (one) => one === name || one.startsWith(`${name}.`),
  );
  return path && fieldError(failure, path);
}

/** Where what was published is read. */
function addressOf(kind: PublicationKind, handle: string, caseId = ''): string {
  return kind === 'profile' ? `/members/${handle}` : `/cases/${caseId}`;
}

/**
 * Publishes with a credential that the sign-in key makes for ten minutes. The same text is the same
 * request, so that trying again publishes it once.
 */
function usePublication({ id }: Session, kind: PublicationKind, caseId: string | undefined) {
  const credential = useRef<TemporaryCredential>(undefined);
  const last = useRef({ sent: '', key: '' });
  return async (signInKey: string, values: Values) => {
    credential.current ??= temporaryCredential(id, [SCOPES[kind]], 'The website');
    const made = await credential.current.request(signInKey);
    if (made.kind !== 'ok') return made;
    const body = toBody(kind, values);
    const sent = JSON.stringify(body);
    if (last.current.sent !== sent) last.current = { sent, key: randomUuid() };
    const answer = await call<{ case?: { id: string } }>('POST', pathOf(kind, caseId), {
      headers: { ...credential.current.headers(), 'idempotency-key': last.current.key },
      body,
    });
    // Its ten minutes are over, so the next attempt makes another.
    if (answer.kind === 'problem' && answer.status === 401) credential.current = undefined;
    return answer;
  };
}
