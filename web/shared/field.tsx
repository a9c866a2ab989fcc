import type { ComponentChildren, TargetedInputEvent, TargetedKeyboardEvent } from 'preact';
import { useId } from 'preact/hooks';
import { codePoints } from './text.tsx';

interface FieldParts {
  label: string;
  value: string;
  onValue: (value: string) => void;
  name: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  /** At most so many code points: counted while one writes, never cut. */
  most?: number;
  optional?: boolean;
  secret?: boolean;
  rows?: number;
  /** Identifiers and keys: one direction, one width. */
  code?: boolean;
  onKeyDown?: (event: TargetedKeyboardEvent<HTMLElement>) => void;
}

/** A labelled field with its hint, its count and its error, told to assistive technology too. */
export function Field(parts: FieldParts) {
  const { label, value, onValue, name, hint, error, most, optional, rows, code } = parts;
  const id = useId();
  const count = codePoints(value);
  const described = [error && `${id}-error`, hint && `${id}-hint`, most && `${id}-count`];
  const common = {
    id,
    name,
    value,
    class: code ? 'input code' : 'input',
    dir: code ? ('ltr' as const) : ('auto' as const),
    spellcheck: !code,
    autoComplete: 'off',
    autoCapitalize: code ? ('none' as const) : ('sentences' as const),
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': described.filter(Boolean).join(' ') || undefined,
    'aria-required': optional ? undefined : ('true' as const),
    onKeyDown: parts.onKeyDown,
    onInput: (event: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onValue(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && <span class="hint"> (optional)</span>}
      </label>
      {rows ? (
        <textarea rows={rows} {...common} />
      ) : parts.secret ? (
        <input type="password" {...common} />
      ) : (
        <input type="text" {...common} />
      )}
      {(hint || error || most) && (
        <div class="below">
          <span>
            {error && (
              <span class="error" id={`${id}-error`}>
                {error}
              </span>
            )}
            {error && hint && <br />}
            {hint && (
              <span class="hint" id={`${id}-hint`}>
                {hint}
              </span>
            )}
          </span>
          {most && (
            <span class={count > most ? 'count over' : 'count'} id={`${id}-count`}>
              {count}
              <span aria-hidden="true"> / {most}</span>
              <span class="visually-hidden"> of at most {most} characters</span>
            </span>
          )}
        </div>
      )}
    </div>
  );
}

/** Puts the focus on the first field that is at fault, once its error stands beside it. */
export function focusFirstError(form: Element | null): void {
  requestAnimationFrame(() => {
    form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
}
