import type { ReportSubject, ViewOf } from '../../services/pages/view.ts';
import { REASON_NAMES } from '../shared/display-names.ts';
import { Alert } from '../shared/live-region.tsx';
import { UserText } from '../shared/text.tsx';

const NAMES: Readonly<Record<ReportSubject['type'], string>> = {
  note: 'note',
  profile: 'profile',
  artifact: 'packet',
  case: 'case',
  case_note: 'note on a case',
};

/** The link to the form for a report of something on a page. */
export function ReportLink({ type, id }: Pick<ReportSubject, 'type' | 'id'>) {
  return (
    <a class="hint report" href={`/report?type=${type}&id=${id}`} rel="nofollow">
      Report this {NAMES[type]}
    </a>
  );
}

/** The form for a report, which works without scripts. */
export function Report({ subject, reason, details, problems }: ViewOf<'report'>) {
  const { type, id, title, href } = subject;
  const name = NAMES[type];
  const quoted = <UserText text={title || `a ${name}`} />;
  return (
    <>
      <h1>Report this {name}</h1>
      <p class="lead">{href ? <a href={href}>{quoted}</a> : quoted}</p>
      <form class="stack" action="/report" method="post">
        {problems[''] && <Alert>{problems['']}</Alert>}
        <p>
          A moderator will review it. The author will not see who reported it.
          {type !== 'note' && (
            <>
              {' '}
              Members alone can report a {name}: <a href="/me">Your account</a>
            </>
          )}
        </p>
        <input type="hidden" name="type" value={type} />
        <input type="hidden" name="id" value={id} />
        <div class="visually-hidden" aria-hidden="true">
          <label for="website">Leave this empty</label>
          <input id="website" name="website" tabIndex={-1} autocomplete="off" />
        </div>
        <fieldset
          class="stack tight"
          aria-describedby={problems.reason ? 'reason-below' : undefined}
        >
          <legend class="label">What is wrong with it?</legend>
          {Object.entries(REASON_NAMES).map(([value, text]) => (
            <label class="check" key={value}>
              <input type="radio" name="reason" value={value} checked={reason === value} required />
              {text}
            </label>
          ))}
          {problems.reason && (
            <p class="error" id="reason-below">
              {problems.reason}
            </p>
          )}
        </fieldset>
        <div class="field">
          <label for="details">
            Details <span class="hint">(optional)</span>
          </label>
          <textarea
            class="input"
            id="details"
            name="details"
            rows={3}
            aria-invalid={problems.details ? 'true' : undefined}
            aria-describedby="details-below"
          >
            {details}
          </textarea>
          <p id="details-below" class={problems.details ? 'error' : 'hint'}>
            {problems.details ?? 'Up to 1000 characters.'}
          </p>
        </div>
        <div class="row">
          <button type="submit" class="button primary">
            Send report
          </button>
        </div>
      </form>
    </>
  );
}

export function Reported() {
  return (
    <>
      <h1>Thank you</h1>
      <p>The report was received. A moderator will review it.</p>
      <p>
        <a href="/">Back to the guestbook</a>
      </p>
    </>
  );
}
