import { useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../../platform/visible-text.ts';
import { Dialog } from '../../shared/dialog.tsx';
import { Field } from '../../shared/field.tsx';
import { Alert } from '../../shared/live-region.tsx';
import { randomUuid } from '../../shared/random.ts';
import { codePoints } from '../../shared/text.tsx';
import { serviceNow } from '../../shared/time.tsx';
import { readDraft, saveDraft } from '../in-progress/panel-state.ts';
import { showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import { createState } from '../session/store.ts';
import { type MemberItem, toItemId } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { authorName } from '../words/labels.ts';
import { MarkedText, plainText } from '../words/marked-text.tsx';
import { activePolicies, NoPolicy, policyTitle } from './policy-list.tsx';
import { addOwnDecision } from './undo.ts';

const MAX_LENGTH = 500;
const DAY_MS = 86_400_000;

/** For how many days; null stands for until a lead lifts it. */
const SPANS = [
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
  [null, 'Until a lead lifts it'],
] as const;

/** Asks a lead before a membership is disabled, or enabled again. */
export function MembershipDialog({ member }: { member: MemberItem }) {
  return member.state === 'enabled' ? (
    <DisableDialog member={member} />
  ) : (
    <EnableDialog member={member} />
  );
}

export const membershipState = createState({
  /** The membership that a lead is asked about, before it is disabled or enabled. */
  view: { membership: null as MemberItem | null },
});

export const askAbout = (membership: MemberItem): void => membershipState.set({ membership });

const close = () => membershipState.set({ membership: null });

interface MemberProps {
  member: MemberItem;
}

function DisableDialog({ member }: MemberProps) {
  const [policy, setPolicy] = useState<string | null>(null);
  const [days, setDays] = useState<number | null>(7);
  const [fault, setFault] = useState<string | null>(null);
  const { sending, send } = useSend(member, setFault);
  const slot = `${toItemId(member.subject)} disable`;
  const text = readDraft(slot);
  const setText = (value: string) => saveDraft(slot, value);
  const policies = activePolicies();
  const submit = async () => {
    if (policy === null) setFault('Choose a policy.');
    else if (codePoints(text) > MAX_LENGTH) setFault('The message is too long.');
    else {
      const until = days === null ? null : new Date(serviceNow() + days * DAY_MS).toISOString();
      const message = hasVisibleText(text) ? text.trim() : null;
      const sent = await send('disable', `Disabled: ${policyTitle(policy)}`, {
        policy,
        message,
        until,
      });
      if (sent) setText('');
    }
  };
  return (
    <Dialog title="Disable this membership?" onClose={close}>
      <form
        class="policy-form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {fault && <Alert>{fault}</Alert>}
        <p>
          <MarkedText text={authorName(member)} class="author" /> is signed out everywhere and
          cannot sign in. Sessions, credentials and claims end, and do not come back. What the
          member published stays.
        </p>
        <fieldset class="membership-choices">
          <legend>Under which policy?</legend>
          {policies.map(({ code, title }) => (
            <label key={code} class="check">
              <input
                type="radio"
                name="policy"
                checked={policy === code}
                onChange={() => setPolicy(code)}
              />
              {title}
            </label>
          ))}
          {policies.length === 0 && <NoPolicy />}
        </fieldset>
        <fieldset class="membership-choices">
          <legend>For how long?</legend>
          {SPANS.map(([span, label]) => (
            <label key={label} class="check">
              <input
                type="radio"
                name="days"
                checked={days === span}
                onChange={() => setDays(span)}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <Field
          label="Message to the member"
          name="message"
          rows={2}
          maxLength={MAX_LENGTH}
          optional
          value={text}
          onValue={setText}
          hint="The member reads the policy and the message after the undo window."
        />
        <div class="row-buttons">
          <button type="submit" class="button danger" aria-disabled={sending ? 'true' : undefined}>
            Disable membership
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function EnableDialog({ member }: MemberProps) {
  const [fault, setFault] = useState<string | null>(null);
  const { sending, send } = useSend(member, setFault);
  return (
    <Dialog title="Enable this membership?" onClose={close}>
      {fault && <Alert>{fault}</Alert>}
      <p>
        <MarkedText text={authorName(member)} class="author" /> can sign in again at once.{' '}
        {member.appeal?.state === 'open' && 'The open appeal counts as granted.'}
      </p>
      <div class="row-buttons">
        <button
          type="button"
          class="button primary"
          // biome-ignore lint/a11y/noAutofocus: the moderator has just opened this dialog
          autoFocus
          aria-disabled={sending ? 'true' : undefined}
          onClick={() => void send('enable', 'Enabled', {})}
        >
          Enable membership
        </button>
      </div>
    </Dialog>
  );
}

/** Sends the request once, however often it is pressed, and offers its undo. */
function useSend(member: MemberItem, setFault: (fault: string | null) => void) {
  const [sending, setSending] = useState(false);
  const key = useRef(randomUuid());
  const last = useRef('');
  const send = async (action: 'disable' | 'enable', words: string, body: object) => {
    if (sending) return false;
    // A changed request is another one.
    if (last.current !== JSON.stringify(body)) key.current = randomUuid();
    last.current = JSON.stringify(body);
    setSending(true);
    setFault(null);
    try {
      const path = `members/${member.id}/${action}`;
      const { event_id } = await call<{ event_id: string }>('POST', path, body, key.current);
      const about = plainText(authorName(member));
      const undo = {
        kind: 'item' as const,
        itemId: toItemId(member.subject),
        eventId: event_id,
        version: member.version + 1,
        about,
        key: randomUuid(),
      };
      close();
      addOwnDecision(undo);
      showToast(words, { about, undo });
      return true;
    } catch (error) {
      setFault(failureText(toFailure(error)));
      setSending(false);
      return false;
    }
  };
  return { sending, send };
}
