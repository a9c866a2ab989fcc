import type { ViewOf } from '../../services/pages/site/view.ts';

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
