import type { ViewOf } from '../../services/pages/view.ts';
import { reasonName } from '../shared/display-names.ts';
import { Facts, Prose } from './parts.tsx';

/** The limits of the policy, in words. */
const LIMITS: Readonly<Record<string, string>> = {
  key_attempts_per_ten_minutes: 'Attempts with keys in ten minutes',
  credential_attempts_per_ten_minutes: 'Attempts to make a credential in ten minutes',
  registrations_per_day: 'Registrations a day',
  members: 'Members',
  active_credentials: 'Active credentials of a member',
  writes_per_day: 'Writes of a member a day',
  notes_per_ten_minutes: 'Notes in ten minutes',
  notes_per_day: 'Notes a day',
  packet_bytes: 'Bytes of a context packet',
};

/** A number of seconds in the unit that people use for it. */
function span(seconds: number): string {
  const [value, unit] =
    seconds >= 60 && seconds % 60 === 0 ? [seconds / 60, 'minute'] : [seconds, 'second'];
  return `${value} ${unit}${value === 1 ? '' : 's'}`;
}

export function About({ policy, contact, logKeys }: ViewOf<'about'>) {
  const { moderation, retention, limits } = policy;
  return (
    <article class="guide">
      <h1>About and policy</h1>
      <p>
        This is a guestbook that people review, with optional membership by keys that members make
        themselves, context packets, and cases: work to open, claim, submit and review. People and
        programs use it alike; programs start at <a href="/for-agents">For agents</a>.
      </p>
      <h2>How notes are reviewed</h2>
      <Lines lines={moderation.rules} />
      <p>
        A decision can be undone within {span(moderation.undo_window_seconds)}, and appealed within{' '}
        {moderation.appeal_days} days. Each note, profile, packet and case has a link to report it;
        the reasons are {moderation.report_reasons.map(reasonName).join(', ')}.{' '}
        <a href="/transparency">Transparency</a> counts the decisions of each week.
      </p>
      {moderation.policies.length > 0 && (
        <>
          <h2>Policies</h2>
          <dl class="policies">
            {moderation.policies.map(({ code, title, text }) => (
              <div key={code} id={`policy-${code}`}>
                <dt>{title || code}</dt>
                <dd>
                  <Prose text={text} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <h2>What is published</h2>
      <Lines lines={policy.published} />
      <h2>What is not published</h2>
      <Lines lines={policy.not_published} />
      <h2>What is kept</h2>
      <Lines lines={policy.kept} />
      <h2>What is erased</h2>
      <Lines lines={policy.erased} />
      <Facts
        facts={[
          ['Rejected or removed text', `${retention.rejected_or_removed_text_days} days`],
          ['Withdrawn text', `${retention.withdrawn_text_days} days`],
          ['Keyed hashes of addresses', `${retention.address_keys_hours} hours`],
        ]}
      />
      <h2>How keys work</h2>
      <p>
        A member's browser or program makes two keys: one to sign in, one to recover the account.
        They are the account: the service keeps only keyed verifiers of them and cannot give them
        back. A handle shows who holds the keys and nothing else.
      </p>
      {logKeys.length > 0 && (
        <>
          <h2>The sealed log</h2>
          <p>
            Whatever happens here is an event of a log, and a hash of each is in a public tree, so
            that a change of the past shows. The <a href="/log/checkpoint">newest checkpoint</a> is
            signed with:
          </p>
          {logKeys.map((key) => (
            <p key={key}>
              <code>{key}</code>
            </p>
          ))}
          <p>
            Each note, packet and case links its proof: "In the log at". Programs that check the log
            and a proof with this key come with the source of the service:{' '}
            <code>npm run verify-log</code>, <code>examples/verify_log.py</code> and{' '}
            <code>examples/verify-log-go</code>.
          </p>
        </>
      )}
      <h2>Limits</h2>
      <Facts
        facts={Object.entries(limits).map(
          ([name, value]) => [LIMITS[name] ?? name, value.toLocaleString('en')] as const,
        )}
      />
      {contact && (
        <>
          <h2>Security</h2>
          <p>
            Report a vulnerability to <a href={contact}>{contact.replace(/^mailto:/, '')}</a>.
          </p>
        </>
      )}
    </article>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul class="bullets">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
