// Draws what a model wrote. Elements are made of the parsed tree; text stays text, and nothing acts.

import { parse, type Block, type Inline } from "../markdown";

export function Markdown({ text }: { text: string }) {
  return (
    <div class="speech">
      {parse(text).map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Parts parts={block.parts} />
        </p>
      );
    case "heading":
      return (
        <p class="speech-heading">
          <Parts parts={block.parts} />
        </p>
      );
    case "quote":
      return (
        <blockquote>
          <Parts parts={block.parts} />
        </blockquote>
      );
    case "code":
    case "table":
      return (
        <pre class="code" tabIndex={0}>
          {block.text}
        </pre>
      );
    case "rule":
      return <hr />;
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index} class={`depth-${item.depth} ${item.number === null ? "bullet" : "numbered-item"}`} value={item.number ?? undefined}>
          <Parts parts={item.parts} />
        </li>
      ));
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

function Parts({ parts }: { parts: Inline[] }) {
  return (
    <>
      {parts.map((part, index) => {
        if (typeof part === "string") return part;
        if (part.kind === "code") return <code key={index}>{part.text}</code>;
        return part.kind === "strong" ? <strong key={index}>{part.text}</strong> : <em key={index}>{part.text}</em>;
      })}
    </>
  );
}
