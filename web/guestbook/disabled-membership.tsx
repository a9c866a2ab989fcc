import { useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Field } from '../shared/field.tsx';
import { Alert, announce } from '../shared/live-region.tsx';
import { foreign } from '../shared/text.tsx';
import { fullTime } from '../shared/time.tsx';
import { EraseNotes } from './delete-account.tsx';
import type { Proof } from './key-fields.tsx';
import { saveFile } from './key-file.ts';
import { OwnTextForm } from './own-text-form.tsx';
import { type Failure, failureText, fieldError } from './problem-text.ts';

/** A disabling as its member may know it: within the undo window without `title` and `message`. */
export interface Disabling {
  since: string;
  until: string | null;
  title?: string;
  message?: string | null;
  appeal: {
    state: 'open' | 'granted' | 'upheld' | 'moot';
    text: string;
    message: string | null;
  } | null;
  actions: string[];
}

/** Whether the key was accepted, but its membership is disabled. */
export const isDisabled = (answer: Answer<unknown>): boolean =>
  answer.kind === 'problem' && answer.details.reason === 'membership_disabled';

/** The id of a disabled member who signed in with the handle. */
export const disabledId = (answer: Answer<unknown>): string | undefined =>
  answer.kind === 'problem' && typeof answer.details.member_id === 'string'
    ? answer.details.member_id
    : undefined;

const ask = <Body,>({ id, key }: Proof, path = '', more: object = {}) =>
  call<Body>('POST', `/api/membership/disabled${path}`, {
    body: { id, sign_in_key: key, ...more },
  });

export const readDisabling = (proof: Proof): Promise<Answer<Disabling>> => ask(proof);

interface DisabledProps {
  /** The id and sign-in key that were proven; they stay in memory. */
  proof: Proof;
  disabling: Disabling;
  onClose: () => void;
  onDeleted: () => void;
}

/** Says to a disabled member that, why and until when, and takes an appeal, an export or a deletion. */
export function DisabledDialog({ proof, disabling, onClose, onDeleted }: DisabledProps) {
  const [known, setKnown] = useState(disabling);
  const [openForm, setOpenForm] = useState<'appeal' | 'delete'>();
  const [failure, setFailure] = useState<Failure>();
  const busy = useRef(false);
  const body = useRef<HTMLDivElement>(null);

  async function send(request: () => Promise<Answer<unknown>>): Promise<boolean> {
    if (busy.current) return false;
    busy.current = true;
    const answer = await request();
    busy.current = false;
    setFailure(answer.kind === 'ok' ? undefined : answer);
    return answer.kind === 'ok';
  }

  const appeal = (text: string) =>
    send(async () => {
      const sent = await ask(proof, '/appeal', { text });
      // A retry after a lost answer finds that the appeal has already arrived.
      const arrived =
        sent.kind === 'ok' ||
        (sent.kind === 'problem' && sent.details.reason === 'already_appealed');
      const read = arrived ? await readDisabling(proof) : sent;
      if (read.kind !== 'ok') return read;
      setKnown(read.body as Disabling);
      setOpenForm(undefined);
      announce('Your appeal was sent.');
      body.current?.focus();
      return read;
    });

  const download = () =>
    send(async () => {
      const exported = await ask<object>(proof, '/export');
      if (exported.kind === 'ok')
        saveFile('guestbook-data.json', `${JSON.stringify(exported.body, null, 2)}\n`);
      return exported;
    });

  const toggle = (form: 'appeal' | 'delete') => {
    setFailure(undefined);
    setOpenForm(openForm === form ? undefined : form);
  };
  const button = (form: 'appeal' | 'delete', text: string, kind: string) => (
    <button
      type="button"
      class={`button ${kind}`}
      aria-expanded={openForm === form}
      onClick={() => toggle(form)}
    >
      {text}
    </button>
  );

  return (
    <Dialog title="Your membership is disabled" onClose={onClose}>
      <div class="stack" ref={body} tabIndex={-1}>
        <Reason disabling={known} />
        <div class="row">
          {known.actions.includes('appeal') && button('appeal', 'Appeal', 'primary')}
          <button type="button" class="button" onClick={() => void download()}>
            Download my data
          </button>
          {button('delete', 'Delete my account', 'danger')}
        </div>
        {openForm === 'appeal' && (
          <OwnTextForm
            label="Why should your membership be restored?"
            name="appeal"
            text=""
            hint="You can appeal once. A different moderator reads it."
            emptyError="Say why your membership should be restored."
            sendLabel="Send appeal"
            onSend={(text) => void appeal(text)}
          />
        )}
        {openForm === 'delete' && (
          <Deletion proof={proof} send={send} failure={failure} onDeleted={onDeleted} />
        )}
        {failure && <Alert>{textOf(failure)}</Alert>}
      </div>
    </Dialog>
  );
}

/** A state conflict means that the membership was enabled after the key was proven. */
const textOf = (failure: Failure): string =>
  failure.kind === 'problem' && failure.code === 'state_conflict'
    ? 'Your membership is no longer disabled. Close this and sign in.'
    : failureText(failure);

function Reason({ disabling }: { disabling: Disabling }) {
  const { since, until, title, message, appeal } = disabling;
  return (
    <>
      <p>
        It was disabled on <Time at={since} />.{' '}
        {until === null ? (
          'It stays disabled until a moderator lifts it.'
        ) : (
          <>
            It is enabled again on <Time at={until} />.
          </>
        )}{' '}
        Until then you cannot sign in, and your credentials have ended. What you published stays
        public.
      </p>
      {title === undefined ? (
        <p class="box look">
          The decision is new and may still be undone. Sign in again later to learn the reason and
          to appeal.
        </p>
      ) : (
        <p>
          Reason: <strong>{title}</strong>.{message && ' Message from the moderator:'}
        </p>
      )}
      {message && <Quote text={message} />}
      {appeal?.state === 'open' && (
        <p class="box look">Your appeal is waiting for a different moderator.</p>
      )}
      {appeal?.state === 'upheld' && (
        <p>
          A different moderator has read your appeal and upheld the decision.
          {appeal.message && ' Message from the moderator:'}
        </p>
      )}
      {appeal?.message && <Quote text={appeal.message} />}
    </>
  );
}

const Quote = ({ text }: { text: string }) => (
  <blockquote {...foreign(text)} class="foreign">
    {text}
  </blockquote>
);

const Time = ({ at }: { at: string }) => <time dateTime={at}>{fullTime(new Date(at))}</time>;

interface DeletionProps {
  proof: Proof;
  send: (request: () => Promise<Answer<unknown>>) => Promise<boolean>;
  failure: Failure | undefined;
  onDeleted: () => void;
}

function Deletion({ proof, send, failure, onDeleted }: DeletionProps) {
  const [handle, setHandle] = useState('');
  const [erase, setErase] = useState(false);
  const [tried, setTried] = useState(false);
  const requested = useRef(false);

  async function request(): Promise<Answer<unknown>> {
    const deletion = { confirm_handle: handle, erase_notes: erase };
    const answer = await ask(proof, '/delete', deletion);
    // After a lost answer, a 401 means that the account is deleted or that its keys were replaced.
    if (requested.current && answer.kind === 'problem' && answer.status === 401)
      return { ...answer, code: 'deletion_unconfirmed' };
    requested.current = true;
    return answer;
  }

  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (handle)
          void send(request).then((deleted) => {
            if (deleted) onDeleted();
          });
      }}
    >
      <p>
        This cannot be undone. Unpublished notes are erased, and nobody can take your handle again.
      </p>
      <EraseNotes checked={erase} onChecked={setErase} />
      <Field
        label="Type your handle to confirm"
        name="confirm"
        code
        value={handle}
        onValue={setHandle}
        error={
          (tried && !handle && 'Type your handle.') ||
          (fieldError(failure, 'confirm_handle') && 'This is not your handle.') ||
          undefined
        }
      />
      <div class="row">
        <button type="submit" class="button danger">
          Delete account
        </button>
      </div>
    </form>
  );
}
