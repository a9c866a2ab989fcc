import { type Answer, call, type Problem } from '../shared/api.ts';
import { randomUuid } from '../shared/random.ts';
import { temporaryCredential } from './temporary-credential.ts';

/**
 * Deletes the account with a credential created only for this purpose. The returned function can be
 * called again after any failure. After a deletion request, a 401 for the credential means that the
 * account is deleted or that the credential has ended. If the service then issues a new credential,
 * the account still exists.
 */
export function createDeletion(member: { id: string; handle: string }) {
  const createCredential = () =>
    temporaryCredential(member.id, ['account:delete'], 'Deletion on the website');
  let credential = createCredential();
  const deletionKey = randomUuid();
  let requested = false;

  async function run(signInKey: string, eraseNotes: boolean): Promise<Answer<unknown>> {
    const ended =
      requested && isRefused(await call('GET', '/api/v1/me', { headers: credential.headers() }));
    if (ended) credential = createCredential();
    const answer = await credential.request(signInKey);
    if (ended && isRefused(answer)) return { ...answer, code: 'deletion_unconfirmed' };
    if (answer.kind !== 'ok') return answer;
    requested = true;
    return call('POST', '/api/v1/me/delete', {
      headers: { ...credential.headers(), 'idempotency-key': deletionKey },
      body: { confirm_handle: member.handle, erase_notes: eraseNotes },
    });
  }

  return run;
}

const isRefused = (answer: Answer<unknown>): answer is Problem =>
  answer.kind === 'problem' && answer.status === 401;

interface EraseNotesProps {
  checked: boolean;
  onChecked: (checked: boolean) => void;
}

/** The choice, at the deletion of an account, what becomes of the published notes. */
export const EraseNotes = ({ checked, onChecked }: EraseNotesProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      onChange={(event) => onChecked(event.currentTarget.checked)}
    />
    Also remove my published notes. Otherwise they stay, signed “former member”.
  </label>
);
