import type { ComponentChildren } from 'preact';
import type { People, SealedPlace } from '../../services/pages/view.ts';
import { foreign, tidy, UserText } from '../shared/text.tsx';

/** A member by name, linked to their page if they have one. */
export function PersonName({ id, people }: { id: string; people: People }) {
  const person = people[id];
  if (!person) return <span class="name">former member</span>;
  return person.href ? (
    <a class="name" href={person.href}>
      {person.name}
    </a>
  ) : (
    <span class="name">{person.name}</span>
  );
}

/** An address by others, with its host where that is written otherwise, as in other scripts. */
export function ForeignLink({ href }: { href: string }) {
  const { host } = new URL(href);
  return (
    <>
      <a href={href} rel="nofollow ugc noopener" class="foreign">
        {href}
      </a>
      {!href.toLowerCase().includes(host) && <span class="hint"> {host}</span>}
    </>
  );
}

/** Text by others, with its line breaks. */
export function Prose({ text, class: name = '' }: { text: string; class?: string }) {
  return (
    <p {...foreign(text)} class={`prose foreign ${name}`}>
      {tidy(text)}
    </p>
  );
}

/** A page's title that somebody else wrote. */
export function ForeignTitle({ text }: { text: string }) {
  return (
    <h1>
      <UserText text={text} />
    </h1>
  );
}

export interface TagProps {
  word: string;
  kind?: 'good' | 'bad' | 'look' | 'info' | '';
}

export function Tag({ word, kind = '' }: TagProps) {
  return <span class={`tag ${kind}`}>{word}</span>;
}

/** Names and values; a value that is null or undefined is left out with its name. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Pager({ older, word = 'Older' }: { older?: string | undefined; word?: string }) {
  return older ? (
    <p class="pager">
      <a class="button" rel="next" href={older}>
        {word}
      </a>
    </p>
  ) : null;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Filters of a list as links, the present one marked. */
export function Filters({
  label,
  path,
  name,
  all,
  chosen,
}: {
  label: string;
  path: string;
  /** The query parameter. */
  name: string;
  all: readonly (readonly [value: string, word: string])[];
  chosen: string | undefined;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {[['', 'All'] as const, ...all].map(([value, word]) => (
          <li key={value}>
            <a
              href={value ? `${path}?${name}=${value}` : path}
              data-word={word}
              aria-current={value === (chosen ?? '') ? 'true' : undefined}
            >
              {word}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The title of a record, which links to its page if it has one. */
export function RecordLink({ href, title }: { href: string | undefined; title: string }) {
  const text = <UserText text={title} />;
  return href ? <a href={href}>{text}</a> : text;
}

/** Where a record is in the sealed log, with its proof. */
export const SealedLink = ({ sealed }: { sealed: SealedPlace }) => (
  <a href={sealed.proof} rel="nofollow">
    In the log at {sealed.leaf}
  </a>
);
