import { Component, type ComponentChild } from 'preact';

/** Renders a component again only if one of its props has changed; it must not read a state. */
export function memo<Props extends object>(view: (props: Props) => ComponentChild) {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const names = Object.keys(next) as (keyof Props)[];
      return names.some((name) => next[name] !== (this.props as Props)[name]);
    }

    override render(props: Readonly<Props>): ComponentChild {
      return view(props);
    }
  };
}
