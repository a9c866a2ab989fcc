import type { ComponentChildren, TargetedInputEvent, TargetedKeyboardEvent } from 'preact';
import { useId } from 'preact/hooks';
import { beforeRefused, withLineFeeds, withoutRefused } from '../../platform/visible-text.ts';
import { codePoints } from './text.tsx';

interface FieldProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  name: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  /** Maximum length in code points. The field shows the count and never truncates. */
  maxLength?: number;
  optional?: boolean;
  secret?: boolean;
  /** What browsers and password managers may fill in; nothing by default. */
  autoComplete?: 'username' | 'username webauthn' | 'current-password' | 'off';
  rows?: number;
  /** For identifiers and keys: left-to-right and monospaced. */
  code?: boolean;
  onKeyDown?: (event: TargetedKeyboardEvent<HTMLElement>) => void;
}

/** A labelled field; ARIA attributes link its hint, count and error for screen readers. */
export function Field(props: FieldProps) {
  const { label, value, onValue, name, hint, maxLength, optional, rows, code } = props;
  const before = beforeRefused(withLineFeeds(value));
  const error = before === undefined ? props.error : invisibleError(before);
  const id = useId();
  const count = codePoints(value);
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`, maxLength && `${id}-count`];
  const attributes = {
    id,
    name,
    value,
    class: code ? 'input code' : 'input',
    dir: code ? ('ltr' as const) : ('auto' as const),
    spellcheck: !code,
    autoComplete: props.autoComplete ?? ('off' as const),
    autoCapitalize: code ? ('none' as const) : ('sentences' as const),
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': describedBy.filter(Boolean).join(' ') || undefined,
    'aria-required': optional ? undefined : ('true' as const),
    onKeyDown: props.onKeyDown,
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
        <textarea rows={rows} {...attributes} />
      ) : props.secret ? (
        <input type="password" {...attributes} />
      ) : (
        <input type="text" {...attributes} />
      )}
      {(hint || error || maxLength) && (
        <div class="below">
          <span>
            {error && (
              <span class="error" id={`${id}-error`}>
                {error}
              </span>
            )}
            {before !== undefined && (
              <button
                type="button"
                class="button quiet"
                onClick={() => onValue(withoutRefused(withLineFeeds(value)))}
              >
                Remove it
              </button>
            )}
            {error && hint && <br />}
            {hint && (
              <span class="hint" id={`${id}-hint`}>
                {hint}
              </span>
            )}
          </span>
          {maxLength && (
            <span class={count > maxLength ? 'count over' : 'count'} id={`${id}-count`}>
              {count}
              <span aria-hidden="true"> / {maxLength}</span>
              <span class="visually-hidden"> of at most {maxLength} characters</span>
            </span>
          )}
        </div>
      )}
    </div>
  );
}

/** Says where an invisible character is that the service refuses, as pasted texts may have. */
function invisibleError(before: string): string {
  const word = before.trim().split(/\s+/u).at(-1)?.slice(-30);
  return word
    ? `There is an invisible character after “${word}”.`
    : 'There is an invisible character at the beginning.';
}

/** Focuses the first invalid field in the next frame, after its error has been rendered. */
export function focusFirstError(form: Element | null): void {
  requestAnimationFrame(() => {
    form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
}

/** Whether an input method handles the key. Safari marks its last key only by keyCode 229. */
export const isComposing = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229;

/** Moves the focus to `fallback` if the focused element was removed; otherwise does nothing. */
export function focusIfLost(fallback: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) fallback?.focus();
}
