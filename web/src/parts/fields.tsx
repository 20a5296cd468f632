// Named fields of a card. All values are text nodes.

/** Short facts, name beside text. */
export function Facts({ fields }: { fields: { name: string; text: string; href?: string }[] }) {
  if (fields.length === 0) return null;
  return (
    <dl class="facts">
      {fields.map((field, index) => (
        <div key={index}>
          <dt>{field.name}</dt>
          <dd>{field.href === undefined ? field.text : <a href={field.href}>{field.text}</a>}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Words of the firewall in which commands stand between backticks. */
export function Words({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

/** A text as it is, with its line breaks, in fixed width. */
export function Code({ name, text }: { name: string; text: string }) {
  return (
    <pre class="code" role="group" aria-label={name}>
      {text}
    </pre>
  );
}
