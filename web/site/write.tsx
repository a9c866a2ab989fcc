import type { ViewOf } from '../../services/pages/view.ts';
import { Alert } from '../shared/live-region.tsx';
import { codePoints, toQuote, UserText } from '../shared/text.tsx';

const MAX_MESSAGE_LENGTH = 500;
const MAX_NAME_LENGTH = 40;

/** Says by how much a text is too long; undefined if it fits. */
function tooLong(text: string, max: number): string | undefined {
  const length = codePoints(text);
  return length > max
    ? `${length} characters: ${length - max} too many. Your text is kept.`
    : undefined;
}

/** The form for a note of a guest, which works without scripts. */
export function Write({ id, experience, parent, name, message, problems }: ViewOf<'write'>) {
  const whole = Object.entries(problems).filter(([field]) => !['message', 'name'].includes(field));
  return (
    <>
      <h1>{parent ? 'Write a reply' : 'Write a note'}</h1>
      {parent && (
        <p class="lead">
          To {parent.name && <UserText text={parent.name} />}
          {parent.name && ': '}
          <a href={`/notes/${parent.id}`}>
            <UserText text={toQuote(parent.message) || 'a note'} />
          </a>
        </p>
      )}
      <form class="stack" action="/guestbook" method="post">
        {whole.map(([field, problem]) => (
          <Alert key={field}>{field ? `${field} ${problem}` : problem}</Alert>
        ))}
        <input type="hidden" name="id" value={id} />
        <input type="hidden" name="experience" value={experience} />
        <input type="hidden" name="parent_id" value={parent?.id ?? ''} />
        <div class="visually-hidden" aria-hidden="true">
          <label for="website">Leave this empty</label>
          <input id="website" name="website" tabIndex={-1} autocomplete="off" />
        </div>
        <div class="field">
          <label for="message">{parent ? 'Your reply' : 'Your note'}</label>
          <textarea
            class="input"
            id="message"
            name="message"
            rows={5}
            required
            maxLength={1000}
            aria-invalid={problems.message ? 'true' : undefined}
            aria-describedby="message-below"
          >
            {message}
          </textarea>
          <p id="message-below" class={problems.message ? 'error' : 'hint'}>
            {problems.message
              ? (tooLong(message, MAX_MESSAGE_LENGTH) ?? `It ${problems.message}.`)
              : 'Up to 500 characters, as plain text.'}
          </p>
        </div>
        <div class="field">
          <label for="name">
            Name <span class="hint">(optional)</span>
          </label>
          <input
            class="input"
            id="name"
            name="name"
            value={name}
            maxLength={80}
            autocomplete="off"
            aria-invalid={problems.name ? 'true' : undefined}
            aria-describedby="name-below"
          />
          <p id="name-below" class={problems.name ? 'error' : 'hint'}>
            {problems.name
              ? (tooLong(name, MAX_NAME_LENGTH) ?? `It ${problems.name}.`)
              : 'Up to 40 characters. Shown exactly as typed. No one verifies it.'}
          </p>
        </div>
        <div class="row">
          <button type="submit" class="button primary">
            Send for review
          </button>
          <span class="hint">A moderator reads every note before it appears.</span>
        </div>
      </form>
    </>
  );
}

const STATUS_TEXTS = {
  pending_review: [
    'Your note waits for review',
    'Only moderators can read it until one of them approves it. Bookmark this page to check its status.',
  ],
  published: ['Your note is published', 'Anyone can read it.'],
  not_published: [
    'Your note is not public',
    'A moderator did not publish it, or it was taken down since. Members see the reason and can appeal; guests cannot.',
  ],
} as const;

export function Sent({ status, id, usualWait }: ViewOf<'sent'>) {
  const [title, text] = STATUS_TEXTS[status];
  return (
    <>
      <h1>{title}</h1>
      {/* A withdrawn note, which may be unread, is not public either. */}
      {status !== 'not_published' && <Progress status={status} />}
      {usualWait && <p>Moderators usually read a note {usualWait}.</p>}
      <p>{text}</p>
      <p>
        {status === 'published' ? (
          <a href={`/notes/${id}`}>Your note</a>
        ) : (
          <a href="/">Back to the guestbook</a>
        )}
      </p>
    </>
  );
}

/** How far a note has come, in one line. */
export function Progress({ status }: Pick<ViewOf<'sent'>, 'status'>) {
  const steps = [
    'Sent',
    'Read by a moderator',
    status === 'not_published' ? 'Not public' : 'Public',
  ];
  const done = status === 'pending_review' ? 1 : steps.length;
  return (
    <ol class="progress hint" aria-label="Progress">
      {steps.map((step, index) => (
        <li
          key={step}
          class={index < done ? 'done' : undefined}
          aria-current={index === done - 1 ? 'step' : undefined}
        >
          {step}
          {index >= done && <span class="visually-hidden"> (not yet)</span>}
        </li>
      ))}
    </ol>
  );
}
