import type { ComponentChildren } from 'preact';
import { findLinks } from './links.ts';

/** A text by others that a moderator has approved, with its web addresses as links. */
export function LinkedText({ text }: { text: string }) {
  const pieces: ComponentChildren[] = [];
  let done = 0;
  for (const { start, end, href } of findLinks(text)) {
    pieces.push(
      text.slice(done, start),
      <a href={href} rel="nofollow ugc noopener" dir="ltr" class="foreign">
        {text.slice(start, end)}
      </a>,
    );
    done = end;
  }
  pieces.push(text.slice(done));
  return <>{pieces}</>;
}
