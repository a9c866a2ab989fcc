import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isComposing } from '../../shared/field.tsx';
import { placeState } from '../queue/queue-state.ts';

/** A pause in typing after which the text is searched. */
const TYPING_MS = 300;

/** Runs what is given to `soon` once nothing was typed for a moment, unless `cancel` is called first. */
export function useTypingPause() {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const cancel = () => clearTimeout(timer.current);
  useEffect(() => cancel, []);
  const soon = (search: () => void) => {
    cancel();
    timer.current = setTimeout(search, TYPING_MS);
  };
  return { cancel, soon };
}

interface SearchInputProps {
  label: string;
  placeholder: string;
  maxLength: number;
  class?: string;
  keyShortcut?: string | undefined;
  onTyped: () => void;
  /** Escape leaves the field, so the next keys are meant for what the whole text finds. */
  onEscape?: () => void;
  onLeft?: () => void;
}

/** The field of a search, which shows the filter `q` of the address. */
export function SearchInput(props: SearchInputProps) {
  const { label, placeholder, maxLength, keyShortcut, onTyped, onEscape, onLeft } = props;
  const { q } = placeState().filters;
  const input = useRef<HTMLInputElement>(null);
  // A `value` attribute would overwrite the text being typed at each redraw.
  useLayoutEffect(() => {
    if (input.current && input.current.value.trim() !== q) input.current.value = q;
  }, [q]);
  return (
    <>
      <label class="visually-hidden" for="search">
        {label}
      </label>
      <input
        ref={input}
        id="search"
        name="q"
        type="search"
        class={`input ${props.class ?? ''}`.trim()}
        dir="auto"
        maxLength={maxLength}
        placeholder={placeholder}
        aria-keyshortcuts={keyShortcut}
        onInput={(event) => {
          if (!event.isComposing) onTyped();
        }}
        onCompositionEnd={onTyped}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && !isComposing(event)) onEscape?.();
        }}
        onBlur={onLeft}
      />
    </>
  );
}
