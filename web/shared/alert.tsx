import type { ComponentChildren } from 'preact';

/** What went wrong. Screen readers read it out when it appears. */
export function Alert({ children }: { children: ComponentChildren }) {
  return (
    <p class="box bad" role="alert">
      {children}
    </p>
  );
}
