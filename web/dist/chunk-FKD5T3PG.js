// node_modules/preact/dist/preact.mjs
var n;
var t;
var r;
var u;
var i;
var f;
var o;
var e;
var l;
var c;
var a;
var s;
var h = /* @__PURE__ */ Symbol.for("pv");
var p = {};
var y = [];
var v = /^m(i|n|o|s|text|space)$/;
var w = Array.isArray;
var d = y.slice;
var _ = Object.assign;
function g(n3) {
  n3 && n3.parentNode && n3.remove();
}
function k(n3, t4, r4) {
  var u4, i4, f5, o5 = {}, e4 = arguments.length;
  for (f5 in t4) "key" == f5 ? u4 = t4[f5] : "ref" == f5 && "function" != typeof n3 ? i4 = t4[f5] : o5[f5] = t4[f5];
  return e4 > 2 && (o5.children = e4 > 3 ? d.call(arguments, 2) : r4), m(n3, o5, u4, i4, null);
}
function m(r4, u4, i4, f5, o5) {
  var e4 = { type: r4, props: u4, key: i4, ref: f5, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: h, __v: o5 || ++t, __i: -1, __u: 0 };
  return !o5 && n.vnode && n.vnode(e4), e4;
}
function $(n3) {
  return n3.children;
}
function x(n3, t4) {
  this.props = n3, this.context = t4, this.__g = 0;
}
function S(n3, t4) {
  if (null == t4) return n3.__ && S(n3.__, n3.__i + 1);
  for (var r4; t4 < n3.__k.length; t4++) if ((r4 = n3.__k[t4]) && r4.__e) return r4.__e;
  return "function" != typeof n3.type || n3.props.__P ? null : S(n3);
}
function C(t4) {
  var r4, u4 = t4.__v, i4 = u4.__e, f5 = [], o5 = [], e4 = t4.__P;
  e4 && ((r4 = _({ constructor: h }, u4)).__v = u4.__v + 1, n.vnode && n.vnode(r4), z(e4, r4, u4, t4.__n, e4.namespaceURI, 32 & u4.__u ? [i4] : null, f5, i4 || S(u4), 32 & u4.__u, o5), r4.__v = u4.__v, r4.__.__k[r4.__i] = r4, E(f5, r4, o5), u4.__ = u4.__e = null, r4.__e != i4 && j(r4));
}
function j(n3) {
  if ((n3 = n3.__) && n3.__c && !n3.props.__P) return n3.__e = null, n3.__k.some(function(t4) {
    return t4 && (n3.__e = t4.__e);
  }), j(n3);
}
function L(t4) {
  (8 & t4.__g || (t4.__g |= 8, u.push(t4), f++)) && i == n.debounceRendering || ((i = n.debounceRendering) || queueMicrotask)(H);
}
function H() {
  try {
    for (var n3, t4 = 1; u.length; ) u.length > t4 && u.sort(o), n3 = u.shift(), t4 = u.length, 8 & n3.__g && C(n3);
  } finally {
    (f = u.length) && (i || queueMicrotask)(H);
  }
}
function I(n3, t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, v4, w5, d5, _5, g5 = u4.__k || y, k4 = t4.length;
  for (l4 = q(r4, t4, g5, l4, k4), s4 = 0; s4 < k4; s4++) null != (v4 = r4.__k[s4]) && (h5 = ~v4.__i && g5[v4.__i] || p, v4.__i = s4, _5 = z(n3, v4, h5, i4, f5, o5, e4, l4, c4, a5), w5 = v4.__e, (h5.ref != v4.ref || 8 & h5.__u) && (h5.ref && G(h5.ref, null, v4, h5), v4.ref && a5.push(v4.ref, v4.__c || w5, v4)), d5 = d5 || w5, 4 & v4.__u ? (l4 = A(v4, l4, n3, !h5.__v), h5.__e && (h5.__e = null)) : "function" == typeof v4.type && void 0 !== _5 ? l4 = _5 : w5 && (l4 = w5.nextSibling), v4.__u &= -21);
  return r4.__e = d5, l4;
}
function q(n3, t4, r4, u4, i4) {
  var f5, o5, e4, l4, c4, a5, s4, p5, y5, v4 = r4.length, d5 = v4, _5 = 0, g5 = 0, k4 = n3.__k = Array(i4);
  for (f5 = 0; f5 < i4; f5++) null != (o5 = t4[f5]) && "boolean" != typeof o5 && "function" != typeof o5 ? ("object" != typeof o5 || o5.constructor === String ? o5 = k4[f5] = m(null, o5) : w(o5) ? o5 = k4[f5] = m($, { children: o5 }) : o5.constructor === h && o5.__b ? o5 = k4[f5] = m(o5.type, o5.props, o5.key, o5.ref, o5.__v) : k4[f5] = o5, l4 = f5 + _5, o5.__ = n3, o5.__b = n3.__b + 1, e4 = null, ~(c4 = o5.__i = P(o5, r4, l4, d5)) && (d5--, (e4 = r4[c4]) && (e4.__u |= 2)), e4 && e4.__v ? (o5.__u |= 16, c4 == l4 - 1 ? _5-- : c4 == l4 + 1 ? _5++ : c4 != l4 && (c4 > l4 ? _5-- : _5++, g5 = 1)) : (~c4 || (i4 > v4 ? _5-- : i4 < v4 && _5++), "function" != typeof o5.type && (o5.__u |= 4))) : k4[f5] = null;
  if (g5) {
    for (a5 = [], s4 = [], f5 = 0; f5 < i4; f5++) if ((o5 = k4[f5]) && 16 & o5.__u) {
      for (_5 = 0, p5 = a5.length; _5 < p5; ) a5[y5 = _5 + p5 >> 1] < o5.__i ? _5 = y5 + 1 : p5 = y5;
      a5[_5] = o5.__i, s4[f5] = _5 + 1;
    }
    for (_5 = a5.length; f5--; ) s4[f5] && (s4[f5] == _5 ? _5-- : k4[f5].__u |= 4);
  }
  if (d5) for (f5 = 0; f5 < v4; f5++) !(e4 = r4[f5]) || 2 & e4.__u || (e4.__e == u4 && (u4 = S(e4)), J(e4, e4));
  return u4;
}
function A(n3, t4, r4, u4) {
  var i4, f5, o5, e4;
  if ("function" == typeof n3.type) {
    if (n3.props.__P) return t4;
    if (i4 = n3.__k) for (f5 = 0; f5 < i4.length; f5++) i4[f5] && (i4[f5].__ = n3, t4 = A(i4[f5], t4, r4, false));
    return t4;
  }
  for (t4 && !t4.parentNode && (t4 = S(n3)) && !t4.parentNode && (t4 = null), o5 = n3.__e, e4 = t4; e4 && 8 == e4.nodeType; ) e4 = e4.nextSibling;
  for (o5 != e4 && (!u4 && r4.moveBefore && o5.parentNode ? r4.moveBefore(o5, t4) : r4.insertBefore(o5, t4 || null)), t4 = o5; (t4 = t4 && t4.nextSibling) && 8 == t4.nodeType && !t4.data.startsWith("$s"); ) ;
  return t4;
}
function P(n3, t4, r4, u4) {
  var i4, f5 = n3.key, o5 = n3.type, e4 = t4[r4], l4 = e4 && !(2 & e4.__u);
  if (null === e4 && null == f5 || l4 && f5 == e4.key && o5 == e4.type) return r4;
  if (u4 > (l4 ? 1 : 0)) {
    for (i4 = r4 - 1; i4 >= 0; i4--) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
    for (i4 = r4 + 1; i4 < t4.length; i4++) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
  }
  return -1;
}
function T(n3, t4, r4) {
  null == r4 && (r4 = ""), "-" == t4[0] ? n3.setProperty(t4, r4) : n3[t4] = r4;
}
function N(n3, t4, r4, u4, i4) {
  var f5, o5;
  if ("style" == t4) if ("string" == typeof r4) n3.style.cssText = r4;
  else {
    if ("string" == typeof u4 && (n3.style.cssText = u4 = ""), u4) for (t4 in u4) r4 && t4 in r4 || T(n3.style, t4);
    if (r4) for (t4 in r4) u4 && r4[t4] == u4[t4] || T(n3.style, t4, r4[t4]);
  }
  else if ("o" == t4[0] && "n" == t4[1]) "function" != typeof r4 && (r4 = null), "function" != typeof u4 && (u4 = null), (n3.__e || (n3.__e = {}))[t4] = r4, r4 && u4 || (o5 = a[t4] || (a[t4] = V(t4)), (n3.__a || (n3.__a = {}))[t4] = c, f5 = t4 != (t4 = t4.replace(l, "$1")), (t4 = t4.slice(2))[0] < "a" && (t4 = t4.toLowerCase()), r4 ? n3.addEventListener(t4, o5, f5) : n3.removeEventListener(t4, o5, f5));
  else {
    if ("http://www.w3.org/2000/svg" == i4) t4 = t4.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    else if ("width" != t4 && "height" != t4 && "href" != t4 && "list" != t4 && "form" != t4 && "tabIndex" != t4 && "download" != t4 && "rowSpan" != t4 && "colSpan" != t4 && "role" != t4 && "popover" != t4 && t4 in n3) try {
      return void (n3[t4] = null == r4 ? "" : r4);
    } catch (n4) {
    }
    if ("function" == typeof r4) return;
    null == r4 || false === r4 && "-" != t4[4] ? n3.removeAttribute(t4) : n3.setAttribute(t4, "popover" == t4 && 1 == r4 ? "" : r4);
  }
}
function V(t4) {
  return function(r4) {
    var u4 = this.__e;
    if (u4) {
      if (u4 = u4[t4], null == r4[e]) r4[e] = c++;
      else if (r4[e] < this.__a[t4]) return;
      return u4(n.event ? n.event(r4) : r4);
    }
  };
}
function z(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, p5, v4, d5, k4, b3, m5, M2, C3, j3, L2, H2, q3, A4, O2, P2, T5, N2, V2 = r4.type;
  if (r4.constructor !== h) return null;
  128 & u4.__u && (c4 = 32 & u4.__u, s4 = u4.__c.__z) && (r4.__u |= c4, p5 = o5 = [], 8 == s4.nodeType ? l4 = B(s4, o5) : o5.push(s4), l4 = o5[0] || l4), (s4 = n.__b) && s4(r4);
  n: if ("function" == typeof V2) {
    v4 = e4.length;
    try {
      if (M2 = r4.props, C3 = (s4 = V2.prototype) && s4.render, j3 = (s4 = V2.contextType) && i4[s4.__c], L2 = s4 ? j3 ? j3.props.value : s4.__ : i4, (d5 = u4.__c) ? (r4.__c = d5, 2 & d5.__g && (d5.__g |= 1)) : (C3 ? r4.__c = d5 = new V2(M2, L2) : (r4.__c = d5 = new x(M2, L2), d5.constructor = V2, d5.render = K), j3 && j3.sub(d5), d5.state || (d5.state = {}), d5.__n = i4, d5.__g |= 8, d5.__h = [], d5.__k = []), C3 && (d5.__s || (d5.__s = d5.state), V2.getDerivedStateFromProps && (d5.__s == d5.state && (d5.__s = _({}, d5.__s)), _(d5.__s, V2.getDerivedStateFromProps(M2, d5.__s)))), k4 = d5.props, b3 = d5.state, d5.__v = r4, u4.__c) {
        if (M2 !== k4 && C3 && !V2.getDerivedStateFromProps && d5.componentWillReceiveProps && d5.componentWillReceiveProps(M2, L2), r4.__v == u4.__v && !(8 & d5.__g) || !(4 & d5.__g) && d5.shouldComponentUpdate && false === d5.shouldComponentUpdate(M2, d5.__s, L2)) {
          r4.__v != u4.__v && (d5.props = M2, d5.state = d5.__s, d5.__g &= -9), r4.__e = u4.__e, r4.__k = u4.__k, r4.__k.some(function(n3) {
            n3 && (n3.__ = r4);
          }), y.push.apply(d5.__h, d5.__k), d5.__k = [], d5.__h.length && e4.push(d5), l4 = S(u4);
          break n;
        }
        d5.componentWillUpdate && d5.componentWillUpdate(M2, d5.__s, L2), C3 && d5.componentDidUpdate && d5.__h.push(function() {
          d5.componentDidUpdate(k4, b3, m5);
        });
      } else C3 && !V2.getDerivedStateFromProps && d5.componentWillMount && d5.componentWillMount(), C3 && d5.componentDidMount && d5.__h.push(d5.componentDidMount);
      d5.context = L2, d5.props = M2, d5.__P = t4, d5.__g &= -5, H2 = n.__r, q3 = C3 ? 25 : 0;
      do {
        d5.__g &= -9, H2 && H2(r4), s4 = d5.render(d5.props, d5.state = d5.__s, d5.context);
      } while (8 & d5.__g && ++q3 < 25);
      C3 && (y.push.apply(d5.__h, d5.__k), d5.__k = []), d5.state = d5.__s, d5.getChildContext && (i4 = _({}, i4, d5.getChildContext())), C3 && u4.__c && d5.getSnapshotBeforeUpdate && (m5 = d5.getSnapshotBeforeUpdate(k4, b3)), A4 = s4 && s4.type === $ && null == s4.key ? s4.props.children : s4, M2.__P && (s4 = l4, f5 = (t4 = M2.__P).namespaceURI, c4 = o5 = null, u4.props && u4.props.__P != t4 && (u4.__k.some(function(n3) {
        n3 && J(n3, n3);
      }), u4.__k = null), l4 = u4.__k ? S(u4, 0) : null), l4 = I(t4, w(A4) ? A4 : [A4], r4, u4, i4, f5, o5, e4, l4, c4, a5), M2.__P && (r4.__e = null, l4 = s4), r4.__u &= -161, p5 && p5.some(g), d5.__h.length && e4.push(d5), 1 & d5.__g && (d5.__g &= -4);
    } catch (t5) {
      if (e4.length = v4, r4.__v = null, c4 || o5) if (t5 && t5.then) {
        if (r4.__u |= 128 | c4, o5) {
          for (~(T5 = o5.indexOf(l4 || void 0)) || (T5 = o5.length); (N2 = o5[T5 - 1]) && 8 == N2.nodeType; ) T5--;
          for (; T5 < o5.length; T5++) if (N2 = o5[T5]) if (o5[T5] = null, O2) {
            if (N2 == P2) break;
          } else {
            if (8 != N2.nodeType) break;
            N2.data.startsWith("$s") && (P2 = B(O2 = N2));
          }
        }
        if (!O2) {
          for (; l4 && 8 == l4.nodeType && l4.nextSibling; ) l4 = l4.nextSibling;
          O2 = l4;
        }
        (s4 = B(O2 = r4.__c.__z || (r4.__c.__z = O2))) ? (r4.__e = O2, l4 = s4) : r4.__e = l4, l4 = l4 && l4.nextSibling;
      } else o5 && o5.some(g);
      else r4.__e = u4.__e;
      r4.__k || (r4.__k = u4.__k || []), t5 && t5.then || D(r4), n.__e(t5, r4, u4);
    }
  } else l4 = r4.__e = F(u4.__e, r4, u4, i4, f5, o5, e4, c4, a5, t4);
  return (s4 = n.diffed) && s4(r4), l4;
}
function B(n3, t4) {
  if (n3 && 8 == n3.nodeType && n3.data.startsWith("$s")) for (var r4 = 1; n3 = n3.nextSibling; ) {
    if (8 == n3.nodeType) {
      if (n3.data.startsWith("$s")) r4++;
      else if (n3.data.startsWith("/$s") && !--r4) return n3;
    }
    t4 && t4.push(n3);
  }
}
function D(n3) {
  n3 && (n3.__c && (n3.__c.__g |= 4), n3.__k && n3.__k.some(D));
}
function E(t4, r4, u4) {
  for (var i4 = 0; i4 < u4.length; ) G(u4[i4++], u4[i4++], u4[i4++]);
  n.__c && n.__c(r4, t4), t4.some(function(r5) {
    try {
      t4 = r5.__h, r5.__h = [], t4.some(function(n3) {
        n3.call(r5);
      });
    } catch (t5) {
      n.__e(t5, r5.__v);
    }
  });
}
function F(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, y5, _5, k4, b3, m5, M2, $2 = u4.props || p, x4 = r4.props, C3 = r4.type;
  if ("svg" == C3 ? f5 = "http://www.w3.org/2000/svg" : "math" == C3 ? f5 = "http://www.w3.org/1998/Math/MathML" : f5 || (f5 = "http://www.w3.org/1999/xhtml"), o5) {
    for (s4 = 0; s4 < o5.length; s4++) if ((k4 = o5[s4]) && (C3 ? k4.localName == C3 : 3 == k4.nodeType)) {
      t4 = k4, o5[s4] = null;
      break;
    }
  }
  if (!t4) {
    if (M2 = a5.ownerDocument || document, !C3) return M2.createTextNode(x4);
    t4 = M2.createElementNS(f5, C3, x4.is ? x4 : a5), l4 && (n.__m && n.__m(r4, o5), l4 = false), o5 = null;
  }
  if (C3) {
    if (a5 = "template" == C3 && t4.content || t4, o5 = "textarea" == C3 && null != x4.defaultValue ? null : o5 && d.call(a5.childNodes), !l4 && o5) for ($2 = {}, s4 = 0; s4 < t4.attributes.length; s4++) $2[(k4 = t4.attributes[s4]).name] = k4.value;
    for (s4 in $2) k4 = $2[s4], "dangerouslySetInnerHTML" == s4 ? y5 = k4 : "children" == s4 || s4 in x4 || "value" == s4 && "defaultValue" in x4 || "checked" == s4 && "defaultChecked" in x4 || N(t4, s4, null, k4, f5);
    for (s4 in x4) k4 = x4[s4], "children" == s4 ? _5 = k4 : "dangerouslySetInnerHTML" == s4 ? h5 = k4 : "value" == s4 ? b3 = k4 : "checked" == s4 ? m5 = k4 : l4 && "function" != typeof k4 || $2[s4] === k4 || N(t4, s4, k4, $2[s4], f5);
    h5 ? (l4 || y5 && (h5.__html == y5.__html || h5.__html == t4.__markupIsNotUsedHere) || (t4.__markupIsNotUsedHere = h5.__html), r4.__k = []) : (y5 && (t4.textContent = ""), ("foreignObject" == C3 || "http://www.w3.org/1998/Math/MathML" == f5 && v.test(C3)) && (f5 = "http://www.w3.org/1999/xhtml"), I(a5, w(_5) ? _5 : [_5], r4, u4, i4, f5, o5, e4, o5 ? o5[0] : u4.__k && S(u4, 0), l4, c4), o5 && o5.some(g)), l4 && "textarea" != C3 || (s4 = "value", "progress" == C3 && null == b3 ? t4.removeAttribute(s4) : null == b3 || b3 === t4[s4] && ("progress" != C3 || b3) || N(t4, s4, b3, $2[s4], f5), s4 = "checked", null != m5 && m5 != t4[s4] && N(t4, s4, m5, $2[s4], f5));
  } else $2 === x4 || l4 && t4.data == x4 || (t4.data = x4);
  return t4;
}
function G(t4, r4, u4, i4) {
  try {
    "function" == typeof t4 ? r4 ? r4.__x = t4(r4) || 1 : i4 && (i4 = i4.__c || i4.__e) && (r4 = i4.__x) && (i4.__x = null, "function" == typeof r4 ? r4() : t4(null)) : t4.current = r4;
  } catch (t5) {
    n.__e(t5, u4);
  }
}
function J(t4, r4, u4) {
  var i4, f5, o5, e4;
  if (n.unmount && n.unmount(t4), !(i4 = t4.ref) || i4.current && i4.current != t4.__e || G(i4, null, r4, t4), i4 = t4.__c) {
    if (i4.componentWillUnmount) try {
      i4.componentWillUnmount();
    } catch (t5) {
      n.__e(t5, r4);
    }
    i4.__P = i4.__n = null;
  }
  if (i4 = t4.__k) for (e4 = 0; e4 < i4.length; e4++) i4[e4] && J(i4[e4], r4, "function" != typeof t4.type || u4 && !t4.props.__P);
  !u4 && (i4 = t4.__c) && (i4 = i4.__z) && (f5 = B(i4, o5 = [])) && (i4 == t4.__e && o5.some(g), g(f5), g(i4)), u4 || g(t4.__e), t4.__e = t4.__c = t4.__ = null;
}
function K(n3, t4, r4) {
  return this.constructor(n3, r4);
}
function Q(t4, r4) {
  var u4, i4, f5, o5;
  n.__ && n.__(t4, r4), 9 == r4.nodeType && (r4 = r4.documentElement), i4 = (u4 = t4 && 32 & t4.__u) ? null : r4.__k, r4.__k = m($, { children: [t4] }), f5 = [], o5 = [], z(r4, r4.__k, i4 || p, p, r4.namespaceURI, i4 ? null : r4.firstChild ? d.call(r4.childNodes) : null, f5, i4 ? i4.__e : r4.firstChild, u4, o5), E(f5, r4.__k, o5), r4.__k.props.children = null;
}
n = { __e: function(n3, t4, r4, u4) {
  for (var i4, o5, e4; t4 = t4.__; ) if ((i4 = t4.__c) && !(1 & i4.__g)) {
    i4.__g |= 4;
    try {
      if ((e4 = (o5 = i4.constructor) && o5.getDerivedStateFromError) && i4.setState(o5.getDerivedStateFromError(n3)), i4.componentDidCatch && (i4.componentDidCatch(n3, u4 || {}), e4 = 1), e4 && 8 & i4.__g) return void (i4.__g |= 2);
    } catch (t5) {
      n3 = t5;
    }
  }
  throw f = 0, n3;
} }, t = 0, r = function(n3) {
  return null != n3 && n3.constructor === h;
}, x.prototype.setState = function(n3, t4) {
  var r4 = this.__s;
  r4 && r4 != this.state || (r4 = this.__s = _({}, this.state)), "function" == typeof n3 && (n3 = n3(_({}, r4), this.props)), n3 && (_(r4, n3), this.__v && (t4 && this.__k.push(t4), L(this)));
}, x.prototype.forceUpdate = function(n3) {
  this.__v && (this.__g |= 4, n3 && this.__h.push(n3), L(this));
}, x.prototype.render = $, u = [], f = 0, o = function(n3, t4) {
  return n3.__v.__b - t4.__v.__b;
}, e = /* @__PURE__ */ Symbol(), l = /(PointerCapture)$|Capture$/i, c = 0, a = {}, s = 0;

// node_modules/preact/hooks/dist/hooks.mjs
var t2;
var r2;
var u2;
var i2;
var o2 = Object.is;
var f2 = 0;
var c2 = [];
var e2 = [];
var a2 = n;
var v2 = a2.__b;
var l2 = a2.__r;
var m2 = a2.diffed;
var h2 = a2.__c;
var s2 = a2.unmount;
var p2 = a2.__;
function y2(n3, t4) {
  a2.__h && a2.__h(r2, n3, f2 || t4), f2 = 0;
  var u4 = r2.__H || (r2.__H = { __: [], __h: [] });
  return n3 >= u4.__.length && u4.__.push({}), u4.__[n3];
}
function d2(n3) {
  return f2 = 1, _2(G2, n3);
}
function _2(n3, u4, i4) {
  var f5 = y2(t2++, 2);
  if (f5.t = n3, !f5.__c && (f5.__ = [i4 ? i4(u4) : G2(void 0, u4), function(n4) {
    var t4 = (f5.__N || f5.__)[0], r4 = f5.t(t4, n4);
    o2(t4, r4) || (f5.__N = [r4, f5.__[1]], f5.__c.setState({}));
  }], f5.__c = r2, !r2.__f)) {
    r2.__f = true;
    var c4 = r2.shouldComponentUpdate;
    r2.shouldComponentUpdate = function(n4, t4, r4) {
      var u5 = this.__H;
      if (!u5) return true;
      var i5 = false, f6 = this.props != n4;
      if (u5.__.some(function(n5) {
        n5.__N && (i5 = true, o2(n5.__[0], n5.__N[0]) || (f6 = true));
      }), c4) {
        var e4 = c4.call(this, n4, t4, r4);
        return i5 ? e4 || f6 : e4;
      }
      return !i5 || f6;
    };
  }
  return f5.__;
}
function A2(n3, u4) {
  var i4 = y2(t2++, 3);
  !a2.__s && E2(i4.__H, u4) && (i4.__P = true, i4.__ = n3, i4.u = u4, r2.__H.__h.push(i4));
}
function F2(n3, u4) {
  var i4 = y2(t2++, 4);
  !a2.__s && E2(i4.__H, u4) && (i4.__P = false, i4.__ = n3, i4.u = u4, r2.__h.push(i4));
}
function T2(n3) {
  return f2 = 5, w2(function() {
    return { current: n3 };
  }, []);
}
function w2(n3, r4) {
  var u4 = y2(t2++, 7);
  return E2(u4.__H, r4) && (u4.__ = n3(), u4.__H = r4), u4.__;
}
function g2() {
  var n3;
  do {
    for (; n3 = e2.shift(); ) try {
      C2(n3);
    } catch (t5) {
      a2.__e(t5, { __: (n3 = n3.__P) && n3.__v });
    }
    for (; n3 = c2.shift(); ) {
      var t4 = n3.__H;
      if (n3.__P && t4) try {
        t4.__h.some(C2), t4.__h.some(D2), t4.__h = [];
      } catch (r4) {
        t4.__h = [], a2.__e(r4, n3.__v);
      }
    }
  } while (e2.length);
}
a2.__b = function(n3) {
  r2 = null, v2 && v2(n3);
}, a2.__ = function(n3, t4) {
  n3 && t4.__k && t4.__k.__m && (n3.__m = t4.__k.__m), p2 && p2(n3, t4);
}, a2.__r = function(n3) {
  l2 && l2(n3), t2 = 0;
  var i4 = (r2 = n3.__c).__H;
  i4 && (u2 == r2 ? r2.__h = [] : (i4.__h.some(C2), i4.__h.some(D2), t2 = 0), i4.__h = [], i4.__.some(function(n4) {
    n4.__N && (n4.__ = n4.__N), n4.u = n4.__N = void 0;
  })), u2 = r2;
}, a2.diffed = function(n3) {
  m2 && m2(n3);
  var t4 = n3.__c;
  t4 && t4.__H && (t4.__H.__h.length && B2(c2.push(t4)), t4.__H.__.some(function(n4) {
    n4.u && (n4.__H = n4.u);
  })), u2 = r2 = null;
}, a2.__c = function(n3, t4) {
  t4.some(function(n4) {
    try {
      n4.__h.some(C2), n4.__h = n4.__h.filter(function(n5) {
        return !n5.__ || D2(n5);
      });
    } catch (t5) {
      n4.__h = [function() {
        throw t5;
      }];
    }
  }), h2 && h2(n3, t4);
}, a2.unmount = function(n3) {
  s2 && s2(n3);
  var t4, r4, u4 = n3.__c;
  u4 && u4.__H && (u4.__H.__.some(function(u5) {
    try {
      if (u5.__P && u5.__c) {
        if (void 0 === r4) {
          for (r4 = n3.__; r4 && (!r4.__c || !r4.__c.__P); ) r4 = r4.__;
          r4 = r4 && r4.__c;
        }
        u5.__P = r4, B2(e2.push(u5));
      } else C2(u5);
    } catch (n4) {
      t4 = n4;
    }
  }), u4.__H = void 0, t4 && a2.__e(t4, u4.__v));
};
var k2 = "function" == typeof requestAnimationFrame;
function z2(n3) {
  var t4, r4 = function() {
    clearTimeout(u4), k2 && cancelAnimationFrame(t4), setTimeout(n3);
  }, u4 = setTimeout(r4, 35);
  k2 && (t4 = requestAnimationFrame(r4));
}
function B2(n3) {
  1 != n3 && i2 == a2.requestAnimationFrame || ((i2 = a2.requestAnimationFrame) || z2)(g2);
}
function C2(n3) {
  var t4 = r2, u4 = n3.__c;
  "function" == typeof u4 && (n3.__c = void 0, u4()), r2 = t4;
}
function D2(n3) {
  var t4 = r2;
  n3.__c = n3.__(), r2 = t4;
}
function E2(n3, t4) {
  return !n3 || n3.length != t4.length || t4.some(function(t5, r4) {
    return !o2(t5, n3[r4]);
  });
}
function G2(n3, t4) {
  return "function" == typeof t4 ? t4(n3) : t4;
}

// node_modules/@preact/signals-core/dist/signals-core.module.js
var i3 = /* @__PURE__ */ Symbol.for("preact-signals");
function t3() {
  if (!(v3 > 1)) {
    var i4, t4 = false;
    !(function() {
      var i5 = c3;
      c3 = void 0;
      while (void 0 !== i5) {
        var t5 = i5.S;
        if (t5.v === i5.v) {
          for (var r5 = t5.t; void 0 !== r5; r5 = r5.x) if (r5.i === i5.i) r5.i = t5.i;
        }
        i5 = i5.o;
      }
    })();
    while (void 0 !== h3) {
      var r4 = h3;
      h3 = void 0;
      s3++;
      while (void 0 !== r4) {
        var n3 = r4.u;
        r4.u = void 0;
        r4.f &= -3;
        if (!(8 & r4.f) && w3(r4)) try {
          r4.c();
        } catch (r5) {
          if (!t4) {
            i4 = r5;
            t4 = true;
          }
        }
        r4 = n3;
      }
    }
    s3 = 0;
    v3--;
    if (t4) throw i4;
  } else v3--;
}
function r3(i4) {
  if (v3 > 0) return i4();
  u3 = ++e3;
  v3++;
  try {
    return i4();
  } finally {
    t3();
  }
}
var n2;
var o3 = void 0;
function f3(i4) {
  var t4 = o3, r4 = n2;
  o3 = void 0;
  n2 = void 0;
  try {
    return i4();
  } finally {
    o3 = t4;
    n2 = r4;
  }
}
var h3 = void 0;
var v3 = 0;
var s3 = 0;
var e3 = 0;
var u3 = 0;
var c3 = void 0;
var a3 = 0;
function d3(i4) {
  if (void 0 !== o3) {
    var t4 = i4.n;
    if (void 0 === t4 || t4.t !== o3) {
      t4 = { i: 0, S: i4, p: o3.s, n: void 0, t: o3, e: void 0, x: void 0, r: t4 };
      if (void 0 !== o3.s) o3.s.n = t4;
      o3.s = t4;
      i4.n = t4;
      if (32 & o3.f) i4.S(t4);
      return t4;
    } else if (-1 === t4.i) {
      t4.i = 0;
      if (void 0 !== t4.n) {
        t4.n.p = t4.p;
        if (void 0 !== t4.p) t4.p.n = t4.n;
        t4.p = o3.s;
        t4.n = void 0;
        o3.s.n = t4;
        o3.s = t4;
      }
      return t4;
    }
  }
}
function l3(i4, t4) {
  this.v = i4;
  this.i = 0;
  this.n = void 0;
  this.t = void 0;
  this.l = 0;
  this.W = null == t4 ? void 0 : t4.watched;
  this.Z = null == t4 ? void 0 : t4.unwatched;
  this.name = null == t4 ? void 0 : t4.name;
}
l3.prototype.brand = i3;
l3.prototype.h = function() {
  return true;
};
l3.prototype.S = function(i4) {
  var t4 = this, r4 = this.t;
  if (r4 !== i4 && void 0 === i4.e) {
    i4.x = r4;
    this.t = i4;
    if (void 0 !== r4) r4.e = i4;
    else f3(function() {
      var i5;
      null == (i5 = t4.W) || i5.call(t4);
    });
  }
};
l3.prototype.U = function(i4) {
  var t4 = this;
  if (void 0 !== this.t) {
    var r4 = i4.e, n3 = i4.x;
    if (void 0 !== r4) {
      r4.x = n3;
      i4.e = void 0;
    }
    if (void 0 !== n3) {
      n3.e = r4;
      i4.x = void 0;
    }
    if (i4 === this.t) {
      this.t = n3;
      if (void 0 === n3) f3(function() {
        var i5;
        null == (i5 = t4.Z) || i5.call(t4);
      });
    }
  }
};
l3.prototype.subscribe = function(i4) {
  var t4 = this;
  return x2(function() {
    var r4 = t4.value;
    f3(function() {
      return i4(r4);
    });
  }, { name: "sub" });
};
l3.prototype.valueOf = function() {
  return this.value;
};
l3.prototype.toString = function() {
  return this.value + "";
};
l3.prototype.toJSON = function() {
  return this.value;
};
l3.prototype.peek = function() {
  var i4 = this;
  return f3(function() {
    return i4.value;
  });
};
Object.defineProperty(l3.prototype, "value", { get: function() {
  var i4 = d3(this);
  if (void 0 !== i4) i4.i = this.i;
  return this.v;
}, set: function(i4) {
  if (i4 !== this.v) {
    if (s3 > 100) throw new Error("Cycle detected");
    !(function(i5) {
      if (0 !== v3 && 0 === s3) {
        if (i5.l !== u3) {
          i5.l = u3;
          c3 = { S: i5, v: i5.v, i: i5.i, o: c3 };
        }
      }
    })(this);
    this.v = i4;
    this.i++;
    a3++;
    v3++;
    try {
      for (var r4 = this.t; void 0 !== r4; r4 = r4.x) r4.t.N();
    } finally {
      t3();
    }
  }
} });
function y3(i4, t4) {
  return new l3(i4, t4);
}
function w3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) if (t4.S.i !== t4.i || !t4.S.h() || t4.S.i !== t4.i) return true;
  return false;
}
function b(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) {
    var r4 = t4.S.n;
    if (void 0 !== r4) t4.r = r4;
    t4.S.n = t4;
    t4.i = -1;
    if (void 0 === t4.n) {
      i4.s = t4;
      break;
    }
  }
}
function _3(i4) {
  var t4 = i4.s, r4 = void 0;
  while (void 0 !== t4) {
    var n3 = t4.p;
    if (-1 === t4.i) {
      t4.S.U(t4);
      if (void 0 !== n3) n3.n = t4.n;
      if (void 0 !== t4.n) t4.n.p = n3;
    } else r4 = t4;
    t4.S.n = t4.r;
    if (void 0 !== t4.r) t4.r = void 0;
    t4 = n3;
  }
  i4.s = r4;
}
function j2(i4, t4) {
  l3.call(this, void 0, t4);
  this.x = i4;
  this.s = void 0;
  this.g = a3 - 1;
  this.f = 4;
}
j2.prototype = new l3();
j2.prototype.h = function() {
  this.f &= -3;
  if (1 & this.f) return false;
  if (32 == (36 & this.f)) return true;
  this.f &= -5;
  if (this.g === a3) return true;
  this.g = a3;
  this.f |= 1;
  if (this.i > 0 && !w3(this)) {
    this.f &= -2;
    return true;
  }
  var i4 = o3;
  try {
    b(this);
    o3 = this;
    var t4 = this.x();
    if (16 & this.f || this.v !== t4 || 0 === this.i) {
      this.v = t4;
      this.f &= -17;
      this.i++;
    }
  } catch (i5) {
    this.v = i5;
    this.f |= 16;
    this.i++;
  }
  o3 = i4;
  _3(this);
  this.f &= -2;
  return true;
};
j2.prototype.S = function(i4) {
  if (void 0 === this.t) {
    this.f |= 36;
    for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.S(t4);
  }
  l3.prototype.S.call(this, i4);
};
j2.prototype.U = function(i4) {
  if (void 0 !== this.t) {
    l3.prototype.U.call(this, i4);
    if (void 0 === this.t) {
      this.f &= -33;
      for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
    }
  }
};
j2.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 6;
    for (var i4 = this.t; void 0 !== i4; i4 = i4.x) i4.t.N();
  }
};
Object.defineProperty(j2.prototype, "value", { get: function() {
  if (1 & this.f) throw new Error("Cycle detected");
  var i4 = d3(this);
  this.h();
  if (void 0 !== i4) i4.i = this.i;
  if (16 & this.f) throw this.v;
  return this.v;
} });
function O(i4, t4) {
  return new j2(i4, t4);
}
function p3(i4) {
  var r4 = i4.j;
  i4.j = void 0;
  if ("function" == typeof r4) {
    v3++;
    var n3 = o3;
    o3 = void 0;
    try {
      r4();
    } catch (t4) {
      i4.f &= -2;
      i4.f |= 8;
      g3(i4);
      throw t4;
    } finally {
      o3 = n3;
      t3();
    }
  }
}
function g3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
  i4.x = void 0;
  i4.s = void 0;
  p3(i4);
}
function S2(i4) {
  if (o3 !== this) throw new Error("Out-of-order effect");
  _3(this);
  o3 = i4;
  this.f &= -2;
  try {
    if (8 & this.f) g3(this);
  } finally {
    t3();
  }
}
function m3(i4, t4) {
  this.x = i4;
  this.j = void 0;
  this.s = void 0;
  this.u = void 0;
  this.f = 32;
  this.name = null == t4 ? void 0 : t4.name;
  if (n2) n2.push(this);
}
m3.prototype.c = function() {
  var i4 = this.S();
  try {
    if (8 & this.f) return;
    if (void 0 === this.x) return;
    var t4 = this.x();
    if ("function" == typeof t4) this.j = t4;
  } finally {
    i4();
  }
};
m3.prototype.S = function() {
  if (1 & this.f) throw new Error("Cycle detected");
  this.f |= 1;
  this.f &= -9;
  p3(this);
  b(this);
  v3++;
  var i4 = o3;
  o3 = this;
  return S2.bind(this, i4);
};
m3.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 2;
    this.u = h3;
    h3 = this;
  }
};
m3.prototype.d = function() {
  this.f |= 8;
  if (!(1 & this.f)) g3(this);
};
m3.prototype.dispose = function() {
  this.d();
};
function x2(i4, t4) {
  var r4 = new m3(i4, t4);
  try {
    r4.c();
  } catch (i5) {
    r4.d();
    throw i5;
  }
  var n3 = r4.d.bind(r4);
  n3[Symbol.dispose] = n3;
  return n3;
}

// node_modules/@preact/signals/dist/signals.module.js
var h4;
var d4;
var p4;
var m4 = "undefined" != typeof window && !!window.__PREACT_SIGNALS_DEVTOOLS__;
var _4 = [];
var g4 = [];
x2(function() {
  h4 = this.N;
})();
function b2(i4, n3) {
  n[i4] = n3.bind(null, n[i4] || function() {
  });
}
function y4(i4) {
  if (p4) {
    var n3 = p4;
    p4 = void 0;
    n3();
  }
  p4 = i4 && i4.S();
}
function w4(i4) {
  var n3 = this, r4 = i4.data, t4 = useSignal(r4);
  t4.name = "ReactiveDom";
  t4.value = r4;
  var e4 = w2(function() {
    var i5 = n3, r5 = n3.__v;
    while (r5 = r5.__) if (r5.__c) {
      r5.__c.__$f |= 4;
      break;
    }
    var o5 = O(function() {
      var i6 = t4.value.value;
      return 0 === i6 ? 0 : true === i6 ? "" : i6 || "";
    }), e5 = O(function() {
      return !Array.isArray(o5.value) && !r(o5.value);
    }), u5 = x2(function() {
      this.N = M;
      if (e5.value) {
        var n4 = o5.value;
        if (i5.__v && i5.__v.__e && 3 === i5.__v.__e.nodeType) i5.__v.__e.data = n4;
      }
    }), c5 = n3.__$u.d;
    n3.__$u.d = function() {
      u5();
      c5.call(this);
    };
    return [e5, o5];
  }, []), u4 = e4[0], c4 = e4[1];
  return u4.value ? c4.peek() : c4.value;
}
w4.displayName = "ReactiveTextNode";
Object.defineProperties(l3.prototype, { constructor: { configurable: true, value: k($, null).constructor }, type: { configurable: true, value: w4 }, props: { configurable: true, get: function() {
  var i4 = this;
  return { data: { get value() {
    return i4.value;
  } } };
} }, __b: { configurable: true, value: 1 } });
b2("__b", function(i4, n3) {
  y4();
  d4 = void 0;
  if ("string" == typeof n3.type) {
    var r4, t4 = n3.props;
    for (var f5 in t4) if ("children" !== f5) {
      var o5 = t4[f5];
      if (o5 instanceof l3) {
        if (!r4) n3.__np = r4 = {};
        r4[f5] = o5;
        t4[f5] = o5.peek();
      }
    }
  }
  i4(n3);
});
b2("__r", function(i4, r4) {
  i4(r4);
  if (r4.type !== $) {
    y4();
    var t4, f5 = r4.__c;
    if (f5) {
      f5.__$f &= -2;
      if (void 0 === (t4 = f5.__$u)) f5.__$u = t4 = (function(i5, n3) {
        var r5;
        x2(function() {
          r5 = this;
        }, { name: n3 });
        r5.c = i5;
        return r5;
      })(/* @__PURE__ */ (function(i5) {
        return function() {
          var n3;
          if (m4) null == (n3 = this.y) || n3.call(this);
          i5.__$f |= 1;
          i5.setState({});
        };
      })(f5), "function" == typeof r4.type ? r4.type.displayName || r4.type.name : "");
    }
    d4 = f5;
    y4(t4);
  }
});
b2("__e", function(i4, n3, r4, t4) {
  y4();
  d4 = void 0;
  i4(n3, r4, t4);
});
b2("diffed", function(i4, n3) {
  y4();
  d4 = void 0;
  var r4;
  if ("string" == typeof n3.type && (r4 = n3.__e)) {
    var t4 = n3.__np, f5 = n3.props, o5 = r4.U;
    if (o5) for (var e4 in o5) {
      var u4 = o5[e4];
      if (!(void 0 === u4 || t4 && e4 in t4)) {
        u4.d();
        o5[e4] = void 0;
      }
    }
    if (t4) {
      if (!o5) {
        o5 = {};
        r4.U = o5;
      }
      for (var a5 in t4) {
        var c4 = o5[a5], v4 = t4[a5];
        if (void 0 === c4) {
          c4 = k3(r4, a5, v4, f5);
          o5[a5] = c4;
        } else c4.o(v4, f5);
      }
    }
  }
  i4(n3);
});
function k3(i4, n3, r4, t4) {
  var f5 = n3 in i4 && void 0 === i4.ownerSVGElement, o5 = y3(r4);
  return { o: function(i5, n4) {
    o5.value = i5;
    t4 = n4;
  }, d: x2(function() {
    this.N = M;
    var r5 = o5.value.value;
    if (t4[n3] !== r5) {
      t4[n3] = r5;
      if (f5) i4[n3] = r5;
      else if (null != r5 && (false !== r5 || "-" === n3[4])) i4.setAttribute(n3, r5);
      else i4.removeAttribute(n3);
    }
  }) };
}
b2("unmount", function(i4, n3) {
  if ("string" == typeof n3.type) {
    var r4 = n3.__e;
    if (r4) {
      var t4 = r4.U;
      if (t4) {
        r4.U = void 0;
        for (var f5 in t4) {
          var o5 = t4[f5];
          if (o5) o5.d();
        }
      }
    }
    var e4 = n3.__np;
    if (e4) {
      var u4 = n3.props;
      for (var a5 in e4) u4[a5] = e4[a5];
    }
    n3.__np = void 0;
  } else {
    var c4 = n3.__c;
    if (c4) {
      c4.__$f |= 8;
      var v4 = c4.__$u;
      if (v4) {
        c4.__$u = void 0;
        v4.d();
      }
    }
  }
  i4(n3);
});
b2("__h", function(i4, n3, r4, t4) {
  if (t4 < 3) n3.__$f |= 2;
  i4(n3, r4, t4);
});
x.prototype.shouldComponentUpdate = function(i4, n3) {
  if (this.__R) return true;
  var r4 = this.__$u, t4 = r4 && void 0 !== r4.s;
  for (var f5 in n3) return true;
  if (this.__f || "boolean" == typeof this.u && true === this.u) {
    var o5 = 2 & this.__$f;
    if (!(t4 || o5 || 4 & this.__$f)) return true;
    if (1 & this.__$f) return true;
  } else {
    if (!(t4 || 4 & this.__$f)) return true;
    if (3 & this.__$f) return true;
  }
  for (var e4 in i4) if ("__source" !== e4 && i4[e4] !== this.props[e4]) return true;
  for (var u4 in this.props) if (!(u4 in i4)) return true;
  return false;
};
function useSignal(i4, n3) {
  return w2(function() {
    return y3(i4, n3);
  }, []);
}
function useComputed(i4, n3) {
  var r4 = T2(i4);
  r4.current = i4;
  d4.__$f |= 4;
  return w2(function() {
    return O(function() {
      return r4.current();
    }, n3);
  }, []);
}
var q2 = "undefined" == typeof requestAnimationFrame ? setTimeout : function(i4) {
  var n3 = function() {
    clearTimeout(r4);
    cancelAnimationFrame(t4);
    i4();
  }, r4 = setTimeout(n3, 35), t4 = requestAnimationFrame(n3);
};
var A3 = function(i4) {
  queueMicrotask(function() {
    queueMicrotask(i4);
  });
};
function T4() {
  r3(function() {
    var i4;
    while (i4 = _4.shift()) h4.call(i4);
  });
}
function x3() {
  if (1 === _4.push(this)) (n.requestAnimationFrame || q2)(T4);
}
function F3() {
  r3(function() {
    var i4;
    while (i4 = g4.shift()) h4.call(i4);
  });
}
function M() {
  if (1 === g4.push(this)) (n.requestAnimationFrame || A3)(F3);
}
function useSignalEffect(i4, n3) {
  var r4 = T2(i4);
  r4.current = i4;
  var t4 = d4;
  A2(function() {
    return x2(function() {
      this.N = x3;
      if (!(t4 && 8 & t4.__$f)) return r4.current();
    }, n3);
  }, []);
}

// src/clock.ts
var SKEW_IGNORED = 3;
var skew = 0;
var now = y3(Date.now() / 1e3);
window.setInterval(tick, 1e3);
function tick() {
  now.value = Date.now() / 1e3 + skew;
}
function heard(date) {
  const there = date === null ? Number.NaN : Date.parse(date) / 1e3;
  if (Number.isNaN(there)) return;
  const off = there - Date.now() / 1e3;
  skew = Math.abs(off) > SKEW_IGNORED ? off : 0;
}
function span(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 90) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(whole / 3600);
  if (hours < 48) return `${hours} h`;
  return `${Math.round(whole / 86400)} days`;
}
function ago(at2, from) {
  const seconds = from - at2;
  return seconds < 2 ? "just now" : `${span(seconds)} ago`;
}
var TIME = new Intl.DateTimeFormat(void 0, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
var MOMENT = new Intl.DateTimeFormat(void 0, { dateStyle: "medium", timeStyle: "medium" });
function moment(at2) {
  const date = new Date(at2 * 1e3);
  const isToday = date.toDateString() === (/* @__PURE__ */ new Date()).toDateString();
  return (isToday ? TIME : MOMENT).format(date);
}
var fullMoment = (at2) => MOMENT.format(new Date(at2 * 1e3));

// src/keys.ts
var KEYS = [
  { command: "choose", keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], shown: "1–5", does: "Answer with the choice of that number; a critical call is allowed by Enter after it" },
  { command: "down", keys: ["ArrowDown"], shown: "↓", does: "Select the next choice" },
  { command: "up", keys: ["ArrowUp"], shown: "↑", does: "Select the choice above" },
  { command: "open", keys: ["Enter"], shown: "Enter", does: "Answer with the selected choice" },
  { command: "note", keys: ["n"], shown: "n", does: "Deny, with a note to the agent" },
  { command: "edit", keys: ["e"], shown: "e", does: "Edit the call before allowing it" },
  { command: "next", keys: ["j"], shown: "j", does: "Next card" },
  { command: "previous", keys: ["k"], shown: "k", does: "Previous card" },
  { command: "page_down", keys: ["PageDown", " "], shown: "PgDn Space", does: "Scroll the card down" },
  { command: "page_up", keys: ["PageUp"], shown: "PgUp", does: "Scroll the card up" },
  { command: "end", keys: ["End"], shown: "End", does: "To the end of the card" },
  { command: "top", keys: ["Home"], shown: "Home", does: "To the top of the card" },
  { command: "why", keys: ["w"], shown: "w", does: "Full analysis" },
  { command: "mark", keys: ["m"], shown: "m", does: "To the next marked part of the text" },
  { command: "led", keys: ["b"], shown: "b", does: "What led here: the calls before" },
  { command: "full", keys: ["f"], shown: "f", does: "Show the full text" },
  { command: "undo", keys: ["z"], shown: "z", does: "Undo an answer before it takes effect" },
  { command: "extend", keys: ["+"], shown: "+", does: "Give the card more time, where that is offered" },
  { command: "select", keys: ["x"], shown: "x", does: "Select the card" },
  { command: "select_group", keys: ["X"], shown: "X", does: "Select all of its group" },
  { command: "filter", keys: ["/"], shown: "/", does: "Filter the list" },
  { command: "inbox", keys: ["i"], shown: "i", does: "Go to the inbox" },
  { command: "talk", keys: ["t"], shown: "t", does: "Talk to the agent" },
  { command: "history", keys: ["h"], shown: "h", does: "Go to the history" },
  { command: "close", keys: ["Escape"], shown: "Esc", does: "Close; never answers" },
  { command: "help", keys: ["?"], shown: "?", does: "Show these keys" }
];
var COMMANDS = new Map(KEYS.flatMap((row) => row.keys.map((key) => [key, row.command])));
function isTyping(event) {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && !isTick(target);
}
var isTick = (element) => element instanceof HTMLInputElement && ["checkbox", "radio"].includes(element.type);
function useKeys(handlers) {
  F2(() => {
    const pressed = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      const command = COMMANDS.get(event.key);
      if (command === void 0) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (isTyping(event) && command !== "close") return;
      if (handlers[command]?.(event) === true) event.preventDefault();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  });
}

// src/api.ts
var isUnknown = y3(false);
var ApiError = class extends Error {
  constructor(status, code, message, body) {
    super(message);
    this.status = status;
    this.code = code;
    this.body = body;
  }
  status;
  code;
  body;
  name = "ApiError";
};
var Unreachable = class extends Error {
  name = "Unreachable";
  constructor() {
    super("the gateway does not respond");
  }
};
async function request(method, path2, body, headers = {}) {
  const options = { method, credentials: "same-origin", headers };
  if (method !== "GET") {
    options.headers = { ...headers, "content-type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  let response;
  let text2;
  try {
    response = await fetch(path2, options);
    text2 = await response.text();
  } catch {
    throw new Unreachable();
  }
  heard(response.headers.get("date"));
  const said2 = parsed(text2);
  if (response.ok) return said2;
  if (response.status === 401 && !path2.startsWith("/v1/login")) isUnknown.value = true;
  const problem = said2?.error;
  throw new ApiError(
    response.status,
    problem?.code ?? "unknown",
    problem?.message ?? `the gateway responded with ${response.status}`,
    said2
  );
}
var get = (path2) => request("GET", path2);
var post = (path2, body) => request("POST", path2, body);
var remove = (path2) => request("DELETE", path2);
var segment = (text2) => encodeURIComponent(text2);
function explain(error) {
  if (error instanceof Unreachable) return "The gateway does not respond. Nothing was changed.";
  if (error instanceof Error) return sentence(error.message);
  return "That did not work.";
}
function sentence(text2) {
  const begun = text2.charAt(0).toUpperCase() + text2.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
function parsed(text2) {
  if (text2 === "") return null;
  try {
    return JSON.parse(text2);
  } catch {
    return null;
  }
}

// src/device.ts
var thisDevice = y3(null);
function ability() {
  if (!window.isSecureContext) return "insecure";
  if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) return "able";
  return /iPhone|iPad/.test(navigator.userAgent) || navigator.maxTouchPoints > 1 ? "install_first" : "unsupported";
}
async function readDevices() {
  const { devices } = await get("/v1/devices");
  const subscribed = await subscription();
  const id = subscribed === null ? null : await idOf(subscribed.endpoint);
  thisDevice.value = devices.find((device) => device.id === id)?.id ?? null;
  return devices;
}
async function turnOn() {
  if (await Notification.requestPermission() !== "granted") {
    return "The browser blocks notifications. Allow them in its settings for this page.";
  }
  const { public_key: key } = await get("/v1/push");
  const worker = await navigator.serviceWorker.ready;
  const old = await worker.pushManager.getSubscription();
  if (old !== null && text(old.options.applicationServerKey) !== key) await old.unsubscribe();
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const body = {
    name: nameOf(navigator.userAgent),
    endpoint: made.endpoint,
    p256dh: text(made.getKey("p256dh")),
    auth: text(made.getKey("auth"))
  };
  thisDevice.value = (await post("/v1/devices", body)).id;
  return null;
}
async function turnOff() {
  const subscribed = await subscription();
  const id = thisDevice.value ?? (subscribed === null ? null : await idOf(subscribed.endpoint));
  await subscribed?.unsubscribe();
  thisDevice.value = null;
  if (id === null) return;
  await remove(`/v1/devices/${id}`).catch((error) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  });
}
async function subscription() {
  if (ability() !== "able") return null;
  const worker = await navigator.serviceWorker.getRegistration();
  return await worker?.pushManager.getSubscription() ?? null;
}
async function isNotified() {
  return await subscription() !== null;
}
async function idOf(endpoint) {
  const hash2 = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  const hex = [...new Uint8Array(hash2)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `dev_${hex.slice(0, 32)}`;
}
function text(bytes) {
  const letters = String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0)));
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
var BROWSERS = [
  [/Edg/, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox|FxiOS/, "Firefox"],
  [/Chrome|CriOS/, "Chrome"],
  [/Safari/, "Safari"]
];
var SYSTEMS = [
  [/Android/, "Android"],
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Mac OS/, "Mac"],
  [/Windows/, "Windows"],
  [/Linux/, "Linux"]
];
function nameOf(agent) {
  const named = (table, usual) => table.find(([pattern]) => pattern.test(agent))?.[1] ?? usual;
  return `${named(BROWSERS, "A browser")} on ${named(SYSTEMS, "another system")}`;
}

// src/queue.ts
var PREFIX = "countersign.queue.";
var TAB = "countersign.tab";
var LETS_GO_MS = 3e3;
var queues = /* @__PURE__ */ new Map();
var prefixOf = (person) => `${PREFIX}${person}.`;
function queueOf(person, session) {
  const key = prefixOf(person) + (session ?? "");
  const known = queues.get(key);
  if (known !== void 0) return known;
  const queue = y3([]);
  queues.set(key, queue);
  if ("locks" in navigator) {
    void isCopied().then((isCopy) => {
      if (isCopy) forgetQueues();
      queue.value = [...read(key), ...queue.value];
      x2(() => keep(key, queue.value));
    });
  }
  return queue;
}
function forgetQueues(person) {
  attempt(() => {
    const isKept = (key) => person !== void 0 && key.startsWith(prefixOf(person));
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX) && !isKept(key)) sessionStorage.removeItem(key);
  });
}
var copied;
function isCopied() {
  copied ??= (async () => {
    const name = attempt(() => sessionStorage.getItem(TAB));
    if (name !== null && await isHeld(name, LETS_GO_MS)) return false;
    const fresh = crypto.randomUUID();
    attempt(() => sessionStorage.setItem(TAB, fresh));
    await isHeld(fresh, LETS_GO_MS);
    return name !== null;
  })();
  return copied;
}
function isHeld(name, patience) {
  return new Promise((resolve) => {
    const hold = () => {
      resolve(true);
      return new Promise(() => void 0);
    };
    navigator.locks.request(TAB + name, { signal: AbortSignal.timeout(patience) }, hold).catch(() => resolve(false));
  });
}
function read(key) {
  const found = attempt(() => JSON.parse(sessionStorage.getItem(key) ?? "[]"));
  return Array.isArray(found) ? found.filter((it) => typeof it === "string") : [];
}
function keep(key, messages) {
  attempt(() => messages.length === 0 ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, JSON.stringify(messages)));
}
function attempt(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

// src/stream.ts
var SILENCE_MS = 25e3;
async function follow(path2, last2, listener, signal) {
  const silence = new AbortController();
  let timer = 0;
  const heard2 = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => silence.abort(), SILENCE_MS);
  };
  const headers = last2 === null ? {} : { "last-event-id": last2 };
  heard2();
  try {
    const response = await fetch(path2, {
      headers,
      credentials: "same-origin",
      signal: AbortSignal.any([signal, silence.signal])
    });
    if (response.status !== 200 || response.body === null) {
      throw new ApiError(response.status, "stream", "events cannot be followed", null);
    }
    listener.opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text2 = "";
    for (; ; ) {
      const { value, done } = await reader.read();
      if (done) return;
      heard2();
      text2 += value;
      const blocks = text2.split("\n\n");
      text2 = blocks.pop() ?? "";
      for (const block of blocks) tell(block, listener);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new Unreachable();
  } finally {
    clearTimeout(timer);
  }
}
function tell(block, listener) {
  let id = null;
  let data = null;
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    if (line.startsWith("data: ")) data = line.slice(6);
  }
  if (data !== null) listener.told(JSON.parse(data), id);
}

// src/sync.ts
var START = {
  kind: "following",
  changes: { approvals: /* @__PURE__ */ new Set(), questions: false },
  busy: /* @__PURE__ */ new Set()
};
var catchUpStarted = ({ changes, busy }, stream) => ({
  kind: "catching_up",
  stream,
  changes,
  busy
});
function catchUpEnded(sync, stream) {
  if (sync.kind === "following" || sync.stream !== stream) return sync;
  return { kind: "following", changes: sync.changes, busy: sync.busy };
}
var approvalsChanged = (sync, ids) => ({
  ...sync,
  changes: { ...sync.changes, approvals: /* @__PURE__ */ new Set([...sync.changes.approvals, ...ids]) }
});
var questionsChanged = (sync) => ({ ...sync, changes: { ...sync.changes, questions: true } });
function isDue({ kind, changes, busy }, list) {
  const hasChanged = list === "approvals" ? changes.approvals.size > 0 : changes.questions;
  return kind === "following" && hasChanged && !busy.has(list);
}
var claimed = (sync, list) => ({ ...sync, busy: /* @__PURE__ */ new Set([...sync.busy, list]) });
var released = (sync, list) => ({
  ...sync,
  busy: new Set([...sync.busy].filter((it) => it !== list))
});
var taken = (sync, list) => ({
  ...sync,
  changes: list === "approvals" ? { ...sync.changes, approvals: /* @__PURE__ */ new Set() } : { ...sync.changes, questions: false }
});

// src/live.ts
var SINGLY_MAX = 12;
var BURST_MILLIS = 30;
var BUSY_MILLIS = 1e3;
var PAGE = 500;
var CARDS_MAX = 1e3;
var REREAD_MAX = 20;
var RETRY_MS_MAX = 1e4;
var connection = y3("starting");
var link = O(() => isUnknown.value ? "signed_out" : connection.value);
var me = y3(null);
var rows = y3(/* @__PURE__ */ new Map());
var approvals = y3(/* @__PURE__ */ new Map());
var questions = y3(/* @__PURE__ */ new Map());
var people = y3([]);
var lostAt = y3(null);
var spoken = y3("");
var toast = y3(null);
var ranAlone = y3(0);
var isCurrent = O(() => link.value === "live");
var mayAnswer = O(() => me.value?.role === "approver" || me.value?.role === "admin");
var waiting = O(() => {
  const items = [];
  for (const approval of rows.value.values()) {
    if (approval.status === "waiting") items.push({ kind: "approval", id: approval.approval_id, approval });
  }
  for (const question of questions.value.values()) {
    if (question.status === "waiting") items.push({ kind: "question", id: question.clarification_id, question });
  }
  return items.sort((a5, b3) => asked(a5) - asked(b3) || (a5.id < b3.id ? -1 : 1));
});
var asked = (item) => item.kind === "approval" ? item.approval.created_at : item.question.created_at;
var listeners = /* @__PURE__ */ new Set();
function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
var lastEventId = null;
var wake = null;
var toastTimer = 0;
function say(text2) {
  toast.value = text2;
  spoken.value = text2;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    toast.value = null;
  }, 6e3);
}
function retry() {
  wake?.();
}
async function run() {
  for (let pause = 500; ; pause = Math.min(pause * 2, RETRY_MS_MAX)) {
    const attempt2 = await connect();
    if (attempt2 === "signed_out") {
      isUnknown.value = true;
      return;
    }
    if (attempt2 === "was_live") pause = 500;
    r3(() => {
      connection.value = "away";
      lostAt.value ??= now.value;
    });
    await new Promise((resolve) => {
      wake = resolve;
      window.setTimeout(resolve, pause);
    });
    wake = null;
  }
}
async function connect() {
  let wasLive = false;
  const stop = new AbortController();
  try {
    const known = get("/v1/whoami").then((it) => {
      me.value = it;
      forgetQueues(it.key_id);
    });
    known.catch(() => void 0);
    const caughtUp = () => {
      wasLive = true;
    };
    const listener = {
      opened: () => {
        if (lostAt.value !== null || lastEventId !== null) connection.value = "catching_up";
        void catchUp(stop.signal, known).then(caughtUp, () => stop.abort());
      },
      told: (event, id) => {
        if (id !== null) lastEventId = id;
        hear(event);
      }
    };
    await follow("/v1/events", lastEventId, listener, stop.signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return "signed_out";
  } finally {
    stop.abort();
  }
  return wasLive ? "was_live" : "failed";
}
async function catchUp(signal, known) {
  state = catchUpStarted(state, signal);
  try {
    await readAll(signal, known);
  } finally {
    state = catchUpEnded(state, signal);
  }
  if (!signal.aborted) readDue();
}
async function readAll(signal, known) {
  const before = rows.value;
  const was = lostAt.value;
  const [read3, asked3] = await Promise.all([
    readWaiting(before),
    get("/v1/clarifications"),
    known
  ]);
  if (signal.aborted) return;
  const fresh = countFresh(before, read3);
  r3(() => {
    settle(read3);
    questions.value = new Map(asked3.clarifications.map((it) => [it.clarification_id, it]));
    lostAt.value = null;
    connection.value = "live";
  });
  if (was !== null) {
    say(`Reconnected: ${fresh} new, ${read3.gone.length} answered or expired meanwhile.`);
  }
  void others();
}
async function readWaiting(before) {
  const found = await everyWaiting();
  const gone = [...before.values()].filter((it) => it.status === "waiting" && !found.has(it.approval_id));
  const known = [...approvals.value.values()].filter((it) => it.status === "waiting" && found.has(it.approval_id));
  const again = [...gone.slice(0, 50), ...known.slice(-REREAD_MAX)].map((it) => one(it.approval_id));
  return { found, gone, cards: (await Promise.all(again)).filter((it) => it !== null) };
}
function settle({ found, gone, cards }) {
  const list = new Map(rows.value);
  for (const it of gone) list.delete(it.approval_id);
  for (const it of [...found.values(), ...cards]) if (!isBehind(list.get(it.approval_id), it)) list.set(it.approval_id, it);
  const kept2 = new Map([...approvals.value].filter(([, it]) => it.status !== "waiting"));
  for (const it of cards) kept2.set(it.approval_id, it);
  r3(() => {
    rows.value = list;
    approvals.value = kept2;
  });
}
var countFresh = (before, { found }) => [...found.keys()].filter((id) => !before.has(id)).length;
async function everyWaiting() {
  const found = /* @__PURE__ */ new Map();
  let behind = null;
  do {
    const more = behind === null ? "" : `&behind=${segment(behind)}`;
    const page = await get(`/v1/inbox?limit=${PAGE}${more}`);
    for (const it of page.approvals) found.set(it.approval_id, it);
    behind = page.next;
  } while (behind !== null);
  return found;
}
async function others() {
  if (!mayAnswer.value || people.value.length > 0) return;
  const list = await get("/v1/people").catch(() => ({ people: [] }));
  people.value = list.people;
}
var state = START;
function hear(event) {
  for (const listener of listeners) listener(event);
  if (event.event === "call.assessed" && event.verdict === "allow") ranAlone.value += 1;
  if (event.event.startsWith("clarify.")) state = questionsChanged(state);
  if (event.event.startsWith("approval.") && "approval_id" in event && event.approval_id) {
    state = approvalsChanged(state, [event.approval_id]);
  }
  readDue();
}
function readDue(pause = BURST_MILLIS) {
  if (isDue(state, "approvals")) void refreshApprovals(pause);
  if (isDue(state, "questions")) void refreshQuestions();
}
async function refreshApprovals(pause) {
  state = claimed(state, "approvals");
  await new Promise((resolve) => {
    setTimeout(resolve, pause);
  });
  if (state.kind === "catching_up") {
    state = released(state, "approvals");
    return;
  }
  const ids = [...state.changes.approvals];
  state = taken(state, "approvals");
  let next = BURST_MILLIS;
  try {
    if (ids.length > SINGLY_MAX && ids.some((id) => !rows.value.has(id))) {
      await reload();
    } else {
      put(...(await Promise.all(ids.map(current))).filter((it) => it !== null));
    }
  } catch (error) {
    if (error instanceof ApiError) {
      state = approvalsChanged(state, ids);
      next = BUSY_MILLIS;
    }
  } finally {
    state = released(state, "approvals");
    readDue(next);
  }
}
async function reload() {
  const read3 = await readWaiting(rows.value);
  const fresh = countFresh(rows.value, read3);
  settle(read3);
  announce(fresh);
}
async function refreshQuestions() {
  state = taken(claimed(state, "questions"), "questions");
  try {
    await readQuestions();
  } finally {
    state = released(state, "questions");
    readDue();
  }
}
async function readQuestions() {
  const before = questions.value;
  const list = await get("/v1/clarifications").catch(() => null);
  if (list === null) return;
  const next = new Map(list.clarifications.map((it) => [it.clarification_id, it]));
  const gone = [...before.values()].filter((it) => it.status === "waiting" && !next.has(it.clarification_id));
  for (const it of gone) {
    const path2 = `/v1/clarifications/${segment(it.clarification_id)}`;
    next.set(it.clarification_id, await get(path2).catch(() => it));
  }
  for (const it of before.values()) if (!next.has(it.clarification_id)) next.set(it.clarification_id, it);
  announce([...next.keys()].filter((id) => !before.has(id)).length);
  questions.value = next;
}
async function refresh(id) {
  const found = await one(id);
  if (found !== null) put(found);
  return found;
}
var underWay = /* @__PURE__ */ new Set();
function need(...ids) {
  for (const id of ids) {
    if (approvals.value.has(id) || underWay.has(id)) continue;
    underWay.add(id);
    void refresh(id).catch(() => null).finally(() => underWay.delete(id));
  }
}
async function one(id) {
  try {
    return await current(id);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
async function current(id) {
  try {
    return await get(`/v1/approvals/${segment(id)}`);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return null;
    throw error;
  }
}
function put(...read3) {
  const found = read3.filter((it) => !isBehind(rows.value.get(it.approval_id), it));
  if (found.length === 0) return;
  const cards = new Map(approvals.value);
  for (const it of found) {
    cards.delete(it.approval_id);
    cards.set(it.approval_id, it);
  }
  for (const id of cards.keys()) {
    if (cards.size <= CARDS_MAX) break;
    cards.delete(id);
  }
  const changed = found.filter((it) => !isSame(rows.value.get(it.approval_id), it));
  const fresh = changed.filter((it) => it.status === "waiting" && !rows.value.has(it.approval_id)).length;
  r3(() => {
    approvals.value = cards;
    if (changed.length > 0) rows.value = new Map([...rows.value, ...changed.map((it) => [it.approval_id, it])]);
  });
  announce(fresh);
}
var isBehind = (known, it) => known !== void 0 && known.status !== "waiting" && it.status === "waiting";
var isSame = (row, { status, held_until: held, expires_at: expires2 }) => row?.status === status && row.held_until === held && row.expires_at === expires2;
function putQuestion(question) {
  questions.value = new Map(questions.value).set(question.clarification_id, question);
}
function tidy(keep2) {
  const old = [...rows.value.values()].filter((it) => it.status !== "waiting" && it.approval_id !== keep2);
  if (old.length === 0) return;
  const [list, cards] = [new Map(rows.value), new Map(approvals.value)];
  for (const it of old) {
    list.delete(it.approval_id);
    cards.delete(it.approval_id);
  }
  r3(() => {
    rows.value = list;
    approvals.value = cards;
  });
}
var arrivals = y3(0);
function announce(fresh) {
  if (fresh === 0 || link.value !== "live") return;
  spoken.value = `${fresh} more waiting`;
  arrivals.value += fresh;
}
async function signOut() {
  forgetQueues();
  await turnOff().catch(() => void 0);
  await post("/v1/logout").catch(() => void 0);
  location.assign("/");
}

// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var f4 = /* @__PURE__ */ Symbol.for("pv");
var o4 = 0;
function a4(t4, e4, n3, u4, a5, i4) {
  e4 || (e4 = {});
  var c4, l4, p5 = e4;
  if ("ref" in p5 && "function" != typeof t4) for (l4 in p5 = {}, e4) "ref" == l4 ? c4 = e4[l4] : p5[l4] = e4[l4];
  var s4 = { type: t4, props: p5, key: n3, ref: c4, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: f4, __v: --o4, __i: -1, __u: 0 };
  return (a5 || i4) && (s4.__source = a5, s4.__self = i4), n.vnode && n.vnode(s4), s4;
}

// src/parts/icon.tsx
var PATHS = {
  inbox: "M4 13h4l1.5 3h5L16 13h4M4 13l2.5-8h11L20 13v6H4z",
  talk: "M5 5h14v11h-7l-4 4v-4H5z",
  history: "M12 7v5l3.5 2M4.5 12a7.5 7.5 0 1 0 2.4-5.5M4.5 4.5v4h4",
  insights: "M5 19V11M12 19V5M19 19v-6",
  reviews: "M3 12s3.5-6 9-6 9 6 9 6-3.5 6-9 6-9-6-9-6zM12 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  grants: "M8 20a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM10.8 13.2L19 5M16 8l2.5 2.5M13.4 10.6l1.8 1.8",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-3.5 2.5-6 6-6s6 2.5 6 6M16 4.5a3.2 3.2 0 0 1 0 6M17.5 14.5c2.2.6 3.5 2.6 3.5 5.5",
  rules: "M12 4v16M7 20h10M5 8l7-2 7 2M5 8l-2.5 5.5h5zM19 8l-2.5 5.5h5z",
  ledger: "M7 4h10v16H7zM10 8h4M10 12h4M10 16h4",
  more: "M4.5 7h15M4.5 12h15M4.5 17h15",
  clock: "M12 7.5V12l3 2M12 19.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15z",
  check: "M5 12.5l4.5 4.5L19 7",
  cross: "M6 6l12 12M18 6L6 18",
  back: "M14 6l-6 6 6 6",
  copy: "M9 9h10v10H9zM5 15V5h10",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 7m-2 0a2 2 0 1 0 4 0 2 2 0 1 0-4 0M8 17m-2 0a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
  stop: "M7 7h10v10H7z",
  plus: "M12 5v14M5 12h14",
  question: "M9 9.5a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1.1-1.3 2.3M12 18v.01",
  search: "M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM15.5 15.5L20 20"
};
function Icon({ name }) {
  return a4("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false", children: a4("path", { d: PATHS[name] }) });
}
function Mark() {
  return a4("svg", { class: "mark", viewBox: "0 0 32 32", "aria-hidden": "true", focusable: "false", children: [
    a4("rect", { width: "32", height: "32", rx: "9" }),
    a4("path", { d: "M8.5 16.8l5 5L23.5 10.6" })
  ] });
}

// src/parts/dialog.tsx
function Dialog({ title, onClose, children }) {
  const box = T2(null);
  A2(() => {
    box.current?.showModal();
  }, []);
  return a4("dialog", { ref: box, class: "dialog", "aria-label": title, onClose, children: [
    a4("header", { children: [
      a4("h2", { children: title }),
      a4("button", { type: "button", class: "icon-button", onClick: () => box.current?.close(), children: [
        a4(Icon, { name: "cross" }),
        a4("span", { class: "unseen", children: "Close" })
      ] })
    ] }),
    children
  ] });
}

// src/syntax.ts
var TEXT_CHARS_MAX = 2e4;
var NUMBER = String.raw`(?<number>(?<![\w.])(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.]))`;
var QUOTED = String.raw`(?<!\\)"(?:\\[\s\S]|[^"\\])*"|(?<!\\)'(?:\\[\s\S]|[^'\\])*'`;
function language(parts) {
  const groups = [`(?<comment>${parts.comment})`, `(?<string>${parts.string})`];
  if (parts.name !== void 0) groups.push(`(?<name>${parts.name})`);
  groups.push(String.raw`(?<keyword>(?<![\w$-])(?:${parts.keywords.replaceAll(" ", "|")})(?![\w-]))`, NUMBER);
  return new RegExp(groups.join("|"), "gm");
}
var SHELL = language({
  comment: String.raw`(?<=^|[\s;])#.*`,
  // In single quotes a backslash is a backslash.
  string: String.raw`(?<!\\)"(?:\\[\s\S]|[^"\\])*"|(?<!\\)'[^']*'`,
  name: String.raw`\$\{[^}\n]{0,200}\}|\$\w+|\$[?!@#*$-]|(?<=\s)--?[a-zA-Z][\w-]*`,
  keywords: "if then elif else fi for while until do done case esac in function select export local return"
});
var PYTHON = language({
  comment: "#.*",
  string: String.raw`"""(?:[\s\S]*?"""|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)|${QUOTED}`,
  keywords: "and as assert async await break case class continue def del elif else end except False finally for from global if import in is lambda match module None nonlocal not or pass raise require return self True try while with yield"
});
var BRACES = language({
  comment: String.raw`\/\/.*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)`,
  string: String.raw`${QUOTED}|` + "(?<!\\\\)`(?:\\\\[\\s\\S]|[^`\\\\])*`",
  keywords: "abstract as async await break case catch class const continue default defer delete do dyn else enum export extends extern false final finally fn for from func function go if impl import in instanceof interface let loop match mod mut namespace new nil null package private protected pub public return self static struct super switch template this throw trait true try type typedef typeof unsafe use using var virtual void where while yield"
});
var SETTINGS = language({
  comment: String.raw`(?<=^|\s)[#;].*`,
  string: QUOTED,
  name: String.raw`(?<=^[ \t]{0,40}(?:- )?)(?:[\w.-]{1,80}(?=[ \t]{0,8}[:=])|\[[^\]\n]*\])`,
  keywords: "true false null yes no on off"
});
var SQL = language({
  comment: String.raw`--.*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)`,
  string: QUOTED,
  keywords: "SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE DROP TABLE CREATE ALTER JOIN ON AND OR NOT NULL GROUP BY ORDER LIMIT TRUNCATE GRANT select from where insert into values update set delete drop table create alter join on and or not null group by order limit truncate grant"
});
var BY_ENDING = [
  ["sh bash zsh ksh env Dockerfile Makefile mk", SHELL],
  ["py pyi rb pl r jl ex exs", PYTHON],
  ["js mjs cjs ts tsx jsx rs go java kt swift c h cc cpp hpp cs scala dart php proto json jsonc css scss", BRACES],
  ["yml yaml toml ini cfg conf properties service tf hcl", SETTINGS],
  ["sql", SQL]
];
function languageOf(path2) {
  const ending2 = path2.split(/[/\\.]/).at(-1) ?? "";
  return BY_ENDING.find(([endings]) => endings.split(" ").includes(ending2))?.[1] ?? null;
}
var BY_ARGUMENT = { Command: SHELL, command: SHELL, script: SHELL, sql: SQL, query: SQL };
var PATH_NAMES = ["path", "file_path", "filePath", "file", "filename", "notebook_path"];
function languageOfArgument(name, args) {
  const own = BY_ARGUMENT[name];
  if (own !== void 0) return own;
  const values = args ?? {};
  if (name === "code") return values["language"] === "javascript" ? BRACES : PYTHON;
  const path2 = PATH_NAMES.map((it) => values[it]).find((it) => typeof it === "string");
  return path2 === void 0 || PATH_NAMES.includes(name) ? null : languageOf(path2);
}
function tokens(text2, of) {
  if (of === null || text2.length > TEXT_CHARS_MAX) return [{ text: text2, kind: null }];
  const made = [];
  let at2 = 0;
  for (const found of text2.matchAll(of)) {
    if (found.index > at2) made.push({ text: text2.slice(at2, found.index), kind: null });
    const kind = Object.entries(found.groups ?? {}).find(([, value]) => value !== void 0)?.[0];
    made.push({ text: found[0], kind: kind ?? null });
    at2 = found.index + found[0].length;
  }
  if (at2 < text2.length) made.push({ text: text2.slice(at2), kind: null });
  return made;
}

// src/parts/fields.tsx
function Facts({ fields }) {
  if (fields.length === 0) return null;
  return a4("dl", { class: "facts", children: fields.map((field, index) => a4("div", { children: [
    a4("dt", { children: field.name }),
    a4("dd", { children: field.href === void 0 ? field.text : a4("a", { href: field.href, children: field.text }) })
  ] }, index)) });
}
function Words({ text: text2 }) {
  const parts = text2.split("`");
  if (parts.length !== 3) return a4($, { children: text2 });
  return a4($, { children: parts.map((part, index) => index === 1 ? a4("code", { children: part }, index) : part) });
}
function Code({ name, text: text2, marks = [], of = null }) {
  return a4("pre", { class: text2.includes("\n") ? "code numbered" : "code", role: "group", "aria-label": name, children: lines(pieces(text2, marks, of)).map((line, index) => a4("span", { class: "code-line", children: a4(Pieces, { of: line }) }, index)) });
}
function Prose({ text: text2, marks }) {
  return a4("p", { class: "prose", children: a4(Pieces, { of: pieces(text2, marks, null) }) });
}
function Coloured({ text: text2, of }) {
  return a4(Pieces, { of: pieces(text2, [], of) });
}
function Pieces({ of }) {
  return a4($, { children: of.map(({ text: text2, mark: mark2, kind }, at2) => {
    const drawn = kind === null ? text2 : a4("span", { class: `code-${kind}`, children: text2 }, at2);
    if (mark2 === null) return drawn;
    return a4("mark", { class: `mark-${mark2.severity}`, title: mark2.words, children: drawn }, at2);
  }) });
}
function Quote({ name, text: text2, marks = [] }) {
  return a4("section", { class: "long", children: [
    a4("div", { class: "long-head", children: [
      a4("h3", { children: name }),
      a4(Copy, { name: name.toLowerCase(), text: text2 })
    ] }),
    a4(Code, { name, text: text2, marks })
  ] });
}
function pieces(text2, marks, of) {
  const bytes = marks.length === 0 ? null : new TextEncoder().encode(text2);
  const cut = (start, end) => new TextDecoder().decode(bytes?.subarray(start, end));
  const made = [];
  const plain = (between) => void made.push(...tokens(between, of).map((it) => ({ ...it, mark: null })));
  let at2 = 0;
  for (const mark2 of marks) {
    plain(cut(at2, mark2.start));
    made.push({ text: cut(mark2.start, mark2.end), mark: mark2, kind: null });
    at2 = mark2.end;
  }
  plain(bytes === null ? text2 : cut(at2, bytes.length));
  return made.filter((piece) => piece.text !== "");
}
function lines(parts) {
  const made = [[]];
  for (const { text: text2, mark: mark2, kind } of parts) {
    for (const line of text2.split(/(?<=\n)/)) {
      made.at(-1)?.push({ text: line, mark: mark2, kind });
      if (line.endsWith("\n")) made.push([]);
    }
  }
  return made;
}
function Copy({ name, text: text2 }) {
  const isDone = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text2);
      isDone.value = true;
      setTimeout(() => isDone.value = false, 2e3);
    } catch {
      say("The browser does not let this page copy. Select the text instead.");
    }
  };
  if (!("clipboard" in navigator)) return null;
  return a4("button", { type: "button", class: "quiet copy", "aria-label": `Copy ${name}`, onClick: () => void copy(), children: isDone.value ? "Copied" : "Copy" });
}

// src/parts/states.tsx
function Head({ title, children, lead }) {
  return a4("header", { class: "head", children: [
    a4("div", { children: [
      a4("h1", { children: title }),
      lead === void 0 ? null : a4("p", { class: "lead", children: lead })
    ] }),
    children === void 0 ? null : a4("div", { class: "head-side", children })
  ] });
}
function Empty({ icon, title, isPart = false, children }) {
  return a4("section", { class: "empty", children: [
    a4(Icon, { name: icon }),
    isPart ? a4("h2", { children: title }) : a4("h1", { children: title }),
    children
  ] });
}
function Loading({ what = "Loading" }) {
  return a4("p", { class: "loading", role: "status", children: [
    what,
    " …"
  ] });
}
function Problem({ error, again }) {
  return a4("div", { class: "problem", role: "alert", children: [
    a4("p", { children: explain(error) }),
    again === void 0 ? null : a4("button", { type: "button", class: "button", onClick: again, children: "Try again" })
  ] });
}
function Commands({ lines: lines2 }) {
  const text2 = lines2.join("\n");
  return a4("div", { class: "commands", children: [
    a4("pre", { children: text2 }),
    a4(Copy, { name: "the command", text: text2 })
  ] });
}

// src/router.ts
var hash = y3(location.hash);
window.addEventListener("hashchange", () => {
  hash.value = location.hash;
});
var place = O(() => {
  const text2 = hash.value.replace(/^#\/?/, "");
  const [path2 = "", query = ""] = text2.split("?", 2);
  const parts = path2.split("/").filter((part) => part !== "").map(decoded);
  return { parts, query: new URLSearchParams(query) };
});
function at(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}
function go(address) {
  if (location.hash !== address) location.hash = address;
}
function settle2(address) {
  history.replaceState(null, "", address);
  hash.value = location.hash;
}
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// src/answer.ts
var path = (id, verb) => `/v1/approvals/${segment(id)}/${verb}`;
async function answer(id, choice, more = {}) {
  return settled(id, post(path(id, "resolve"), { choice, ...more }));
}
async function takeBack(id) {
  return settled(id, post(path(id, "take_back")));
}
async function extend(id) {
  return settled(id, post(path(id, "extend")));
}
async function lift(id) {
  return settled(id, post(path(id, "lift")));
}
async function viewed(id) {
  return settled(id, post(path(id, "viewed")));
}
async function settled(id, asked3) {
  try {
    put(await asked3);
    return null;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 409 || error.status === 410)) {
      await refresh(id).catch(() => null);
      return null;
    }
    return explain(error);
  }
}

// src/words.ts
var LABELS = {
  once: "Allow once",
  session: "Allow for this session",
  always: "Add to permanent allowlist",
  deny: "Deny"
};
var NUMBERS = { once: 1, session: 2, always: 3, deny: 4, view: 5 };
var LEAVES = {
  once: "Runs now, exactly as shown. Creates no grant.",
  session: "Shows the grant it would create, for this session only.",
  always: "Shows the grant it would create, valid until revoked.",
  deny: "Does not run."
};
var RISKS = {
  low: "Low",
  medium: "Medium",
  high: "High",
  critical: "Critical"
};
var ORDER = ["low", "medium", "high", "critical"];
var isGrave = (risk) => ORDER.indexOf(risk) >= ORDER.indexOf("high");
var TIERS = {
  T0: "advisory: the agent runs under the same account and could answer itself",
  T1: "hardened: the same account, but not without a deliberate attack",
  T2: "separated: the firewall runs under its own account",
  T3: "out of band: answered on another device through a verified channel",
  T4: "proven: a passkey signed exactly this call"
};
var SIDE_EFFECTS = {
  read_only: "changes nothing",
  local_reversible: "local change",
  external: "reaches other machines or people",
  critical: "critical"
};
var FACTORS = {
  tool_class: "What it does",
  target_sensitivity: "What it touches",
  reversibility: "How hard to undo",
  human_impact: "Effect on people",
  context_certainty: "How clear it is"
};
var score = (fraction) => (Math.floor((Math.round(fraction * 1e3) + 5) / 10) / 100).toFixed(2);
var VIAS = {
  page: "the page",
  api: "the API",
  cli: "the command line",
  terminal: "the terminal",
  mattermost: "Mattermost",
  slack: "Slack",
  discord: "Discord",
  telegram: "Telegram",
  matrix: "Matrix",
  email: "e-mail"
};
var place2 = (via) => VIAS[via] ?? via;
function ending(decision, me2) {
  const who = decision.by === null ? "the firewall" : decision.by === me2 ? "you" : decision.by;
  const where = decision.via === null ? "" : ` on ${place2(decision.via)}`;
  switch (decision.outcome) {
    case "approved":
      return `${decision.choice === null ? "Allowed" : ALLOWED[decision.choice] ?? "Allowed"} by ${who}${where}${edited(decision) === null ? "" : ", edited"}`;
    case "denied":
      return `Denied by ${who}${where}`;
    case "withdrawn":
      return "Withdrawn by the agent";
    case "expired":
      return decision.cause === "undeliverable" ? "Nobody could be reached; it did not run" : "Nobody answered in time; it did not run";
    default:
      return decision.outcome;
  }
}
var edited = (decision) => decision.args ?? null;
var ALLOWED = {
  once: "Allowed once",
  session: "Allowed for this session",
  always: "Added to the permanent allowlist"
};
var many = (count, one2, several = `${one2}s`) => `${count.toLocaleString()} ${count === 1 ? one2 : several}`;

// src/diff.ts
var CONTEXT = 3;
var FOLD_MIN = 4;
var LINES_MAX = 2e3;
function compare(before, after) {
  const old = before.split("\n");
  const fresh = after.split("\n");
  if (old.length * fresh.length > LINES_MAX * LINES_MAX) {
    return [
      ...old.map((text2, index) => ({ kind: "gone", text: text2, old: index + 1 })),
      ...fresh.map((text2, index) => ({ kind: "new", text: text2, fresh: index + 1 }))
    ];
  }
  const width = fresh.length + 1;
  const common2 = new Uint16Array((old.length + 1) * width);
  const reach = (i5, j4) => common2[i5 * width + j4] ?? 0;
  for (let i5 = old.length - 1; i5 >= 0; i5 -= 1) {
    for (let j4 = fresh.length - 1; j4 >= 0; j4 -= 1) {
      common2[i5 * width + j4] = old[i5] === fresh[j4] ? reach(i5 + 1, j4 + 1) + 1 : Math.max(reach(i5 + 1, j4), reach(i5, j4 + 1));
    }
  }
  const lines2 = [];
  let i4 = 0;
  let j3 = 0;
  while (i4 < old.length || j3 < fresh.length) {
    const gone = old[i4];
    const added = fresh[j3];
    if (gone !== void 0 && gone === added) {
      i4 += 1;
      j3 += 1;
      lines2.push({ kind: "same", text: gone, old: i4, fresh: j3 });
    } else if (added === void 0 || gone !== void 0 && reach(i4 + 1, j3) >= reach(i4, j3 + 1)) {
      i4 += 1;
      lines2.push({ kind: "gone", text: gone ?? "", old: i4 });
    } else {
      j3 += 1;
      lines2.push({ kind: "new", text: added, fresh: j3 });
    }
  }
  return lines2;
}
function folded(lines2) {
  const isNear = lines2.map(() => false);
  for (const [at2, line] of lines2.entries()) {
    if (line.kind === "same") continue;
    for (let near = Math.max(0, at2 - CONTEXT); near <= Math.min(lines2.length - 1, at2 + CONTEXT); near += 1) isNear[near] = true;
  }
  const parts = [];
  for (const [at2, line] of lines2.entries()) {
    const kind = isNear[at2] === true ? "shown" : "folded";
    const last2 = parts.at(-1);
    if (last2?.kind === kind) last2.lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  return parts.map((part) => part.lines.length < FOLD_MIN ? { ...part, kind: "shown" } : part);
}
function paired(lines2) {
  const rows2 = [];
  let gone = [];
  let fresh = [];
  const flush = () => {
    for (let at2 = 0; at2 < Math.max(gone.length, fresh.length); at2 += 1) rows2.push([gone[at2] ?? null, fresh[at2] ?? null]);
    gone = [];
    fresh = [];
  };
  for (const line of lines2) {
    if (line.kind === "gone") gone.push(line);
    else if (line.kind === "new") fresh.push(line);
    else {
      flush();
      rows2.push([line, line]);
    }
  }
  flush();
  return rows2;
}
var PATCH_NAMES = ["patch", "diff", "unified_diff", "input"];
var isPatch = (name, text2) => PATCH_NAMES.includes(name) && /^\s*(@@|\*\*\* Begin Patch|--- |diff --git )/.test(text2) && /^[+-]/m.test(text2);
function patch(text2) {
  return text2.split("\n").map((line) => {
    if (/^(\*\*\*|---|\+\+\+|@@|diff |index )/.test(line)) return { kind: "mark", text: line };
    if (line.startsWith("+")) return { kind: "new", text: line.slice(1) };
    if (line.startsWith("-")) return { kind: "gone", text: line.slice(1) };
    return { kind: "same", text: line.startsWith(" ") ? line.slice(1) : line };
  });
}
var OLD_NAMES = ["old_string", "oldString", "old_str", "old_text", "search"];
var NEW_NAMES = ["new_string", "newString", "new_str", "new_text", "replace"];
function edit(args) {
  if (typeof args !== "object" || args === null) return null;
  const texts = args;
  const old = OLD_NAMES.find((name) => typeof texts[name] === "string");
  const fresh = NEW_NAMES.find((name) => typeof texts[name] === "string");
  if (old === void 0 || fresh === void 0) return null;
  return { before: texts[old], after: texts[fresh], names: [old, fresh] };
}

// src/parts/difference.tsx
var WIDE = 880;
var SIGNS = { same: " ", gone: "−", new: "+", mark: " " };
var ALOUD = { same: "", gone: "removed: ", new: "added: ", mark: "" };
function Difference({ name, lines: lines2, folds = false, of = null, children }) {
  const box = T2(null);
  const isWide = useSignal(false);
  A2(() => {
    const element = box.current;
    if (element === null) return void 0;
    const observer = new ResizeObserver(() => isWide.value = element.clientWidth >= WIDE);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const parts = folds ? folded(lines2) : [{ kind: "shown", lines: lines2 }];
  const digits = String(Math.max(0, ...lines2.map((line) => Math.max(line.old ?? 0, line.fresh ?? 0)))).length;
  return a4("section", { class: "long diff-section", children: [
    a4("h3", { children: name }),
    children,
    a4("div", { class: isWide.value ? "code diff diff-wide" : "code diff", role: "group", "aria-label": name, ref: box, style: { "--digits": String(digits) }, children: parts.map(
      (part, index) => part.kind === "folded" ? a4(Folded, { lines: part.lines, of, isWide: isWide.value }, index) : a4(Rows, { lines: part.lines, of, isWide: isWide.value }, index)
    ) })
  ] });
}
function Folded({ lines: lines2, of, isWide }) {
  const isOpen = useSignal(false);
  if (isOpen.value) return a4(Rows, { lines: lines2, of, isWide });
  return a4("button", { type: "button", class: "diff-fold", onClick: () => isOpen.value = true, children: [
    "Show ",
    many(lines2.length, "unchanged line")
  ] });
}
function Rows({ lines: lines2, of, isWide }) {
  if (!isWide) {
    return a4($, { children: lines2.map((line, index) => a4("div", { class: `diff-row line-${line.kind}`, children: [
      a4("span", { class: "number", "aria-hidden": "true", children: line.old ?? "" }),
      a4("span", { class: "number", "aria-hidden": "true", children: line.fresh ?? "" }),
      a4(Text, { line, of })
    ] }, index)) });
  }
  return a4($, { children: paired(lines2).map(([old, fresh], index) => a4("div", { class: "diff-row", children: [
    a4(Half, { line: old, of, number: old?.old }),
    a4(Half, { line: fresh, of, number: fresh?.fresh, isRepeated: old === fresh })
  ] }, index)) });
}
function Half({ line, of, number, isRepeated = false }) {
  return a4("div", { class: `diff-half line-${line?.kind ?? "none"}`, "aria-hidden": isRepeated ? "true" : void 0, children: [
    a4("span", { class: "number", "aria-hidden": "true", children: number ?? "" }),
    line === null ? null : a4(Text, { line, of })
  ] });
}
function Text({ line, of }) {
  return a4($, { children: [
    a4("span", { class: "sign", "aria-hidden": "true", children: SIGNS[line.kind] }),
    a4("span", { class: "unseen", children: ALOUD[line.kind] }),
    a4("span", { class: "diff-text", children: line.text === "" ? " " : a4(Coloured, { text: line.text, of: line.kind === "mark" ? null : of }) })
  ] });
}

// src/load.ts
var TOGETHER_MS = 250;
function useLoaded(read3, events = [], key = "") {
  const value = useSignal(null);
  const error = useSignal(null);
  const turn = T2(0);
  const latest = T2(read3);
  latest.current = read3;
  const again = () => {
    const mine = turn.current += 1;
    latest.current().then(
      (found) => {
        if (mine !== turn.current) return;
        value.value = found;
        error.value = null;
      },
      (problem) => {
        if (mine === turn.current) error.value = problem;
      }
    );
  };
  A2(again, [key]);
  A2(() => {
    let timer = 0;
    const stop = listen((event) => {
      if (timer !== 0 || !events.some((name) => event.event.startsWith(name))) return;
      timer = window.setTimeout(() => {
        timer = 0;
        again();
      }, TOGETHER_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  const wasAway = T2(false);
  useSignalEffect(() => {
    if (link.value === "away") wasAway.current = true;
    if (link.value !== "live" || !wasAway.current) return;
    wasAway.current = false;
    again();
  });
  return { value, error, again };
}

// src/verdicts.ts
var VERDICTS = {
  allow: "Allowed",
  allow_then_review: "Allowed, then reviewed",
  ask: "Asked",
  refuse: "Refused"
};
var ENDINGS = {
  waiting: { word: "Waiting", tone: "ask" },
  allowed: { word: "Allowed", tone: "allow" },
  approved: { word: "Approved", tone: "yes" },
  denied: { word: "Denied", tone: "refuse" },
  refused: { word: "Refused", tone: "refuse" },
  expired: { word: "Expired", tone: "none" },
  withdrawn: { word: "Withdrawn", tone: "none" }
};
var CAUSES = {
  rule: "by a rule",
  grant: "under a standing grant",
  deny_memory: "because it was denied recently",
  flood: "because the agent asked too often",
  no_approver: "because there is no approver",
  undeliverable: "because nobody could be reached",
  expiry: "because nobody answered in time"
};
function ended(status, decision, me2) {
  const word = ENDINGS[status]?.word ?? status;
  if (decision === null || decision === void 0) return word;
  if (decision.by !== null && decision.by !== void 0 && ["person", "model"].includes(decision.cause)) {
    const who = decision.by === me2 ? "you" : decision.by;
    const where = decision.via === null || decision.via === void 0 ? "" : ` on ${place2(decision.via)}`;
    return decision.cause === "model" ? `${word} by a model on a person's behalf` : `${word} by ${who}${where}`;
  }
  if (decision.cause === "grant" && decision.grant_id) return `${word} under the grant ${decision.grant_id}`;
  const cause = CAUSES[decision.cause];
  return cause === void 0 ? word : `${word} ${cause}`;
}
function took(call) {
  const { decision, approval_id: approval } = call;
  if (decision === null || decision === void 0 || approval === null || approval === void 0) return null;
  return decision.cause === "person" ? Math.max(0, decision.at - call.created_at) : null;
}
function brief(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const rest = whole % 60;
  const minutes = Math.floor(whole / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
function riskOf(assessment) {
  if (assessment.risk !== void 0) return assessment.risk;
  if (assessment.side_effect === "critical" || assessment.crisis_sensitive) return "critical";
  if (assessment.risk_score > 0.6) return "high";
  return assessment.risk_score >= 0.25 ? "medium" : "low";
}
function short(trace, me2) {
  return {
    id: trace.call_id,
    at: trace.created_at,
    tool: trace.tool,
    command: trace.command,
    status: trace.status,
    who: trace.agent ?? trace.key_name,
    ending: ended(trace.status, trace.decision, me2),
    took: took(trace),
    risk: riskOf(trace.assessment)
  };
}

// src/parts/led.tsx
var callsOf = (name, id) => `${at("history")}?${name}=${encodeURIComponent(id)}`;
function Led({ approval }) {
  const { value, error } = useLoaded(() => get(`/v1/approvals/${segment(approval.approval_id)}/before`), [], approval.approval_id);
  if (error.value !== null) return a4(Problem, { error: error.value });
  if (value.value === null) return a4(Loading, { what: "What led here" });
  const { message, calls } = value.value;
  const before = calls.map((it) => short(it, me.value?.name ?? ""));
  return a4($, { children: [
    message === null || message === void 0 ? null : a4("figure", { class: "led-message", children: [
      a4("figcaption", { children: [
        message.from,
        " said"
      ] }),
      a4("blockquote", { children: message.text })
    ] }),
    before.length === 0 ? a4("p", { class: "hint", children: "This is the first call of its run." }) : null,
    a4("ol", { class: "led", children: before.map((it) => a4("li", { children: [
      a4("a", { href: at("history", it.id), children: a4("code", { children: it.command.slice(0, 200) }) }),
      a4("span", { children: [
        it.ending,
        " · ",
        ago(it.at, now.value)
      ] })
    ] }, it.id)) }),
    a4("p", { children: a4("a", { href: callsOf("run_id", approval.run_id), children: "All calls of this run" }) })
  ] });
}

// src/parts/risk.tsx
function RiskWord({ risk }) {
  return a4("span", { class: `risk risk-${risk}`, children: RISKS[risk] ?? risk });
}

// src/parts/why.tsx
var PATTERNS = {
  pre_execution_gate: "confirmed before it runs",
  post_execution_review: "reviewed after it ran",
  confidence_threshold: "by risk and confidence"
};
function Why({ assessment }) {
  return a4("div", { class: "why", children: [
    a4(
      Facts,
      {
        fields: [
          { name: "Risk", text: `${RISKS[riskOf(assessment)]} ${score(assessment.risk_score)}` },
          { name: "Confidence", text: score(assessment.confidence) },
          { name: "Effect", text: SIDE_EFFECTS[assessment.side_effect] ?? assessment.side_effect },
          { name: "Can be undone", text: assessment.reversible ? "yes" : "no" },
          { name: "Outbound", text: assessment.outbound ? "yes" : "no" },
          { name: "Pattern", text: PATTERNS[assessment.pattern] ?? assessment.pattern }
        ]
      }
    ),
    a4("h3", { children: "Factors" }),
    a4("ul", { class: "factors", children: assessment.factors.map((factor) => a4("li", { class: tone(factor), children: [
      a4("span", { class: "factor-name", children: FACTORS[factor.factor] ?? factor.factor }),
      a4("span", { class: "factor-score", children: score(factor.score) }),
      a4("span", { class: "bar", "aria-hidden": "true", children: a4("span", { style: { width: `${factor.score * 100}%` } }) }),
      factor.evidence === "" ? null : a4("span", { class: "evidence", children: factor.evidence })
    ] }, factor.factor)) }),
    assessment.findings.length === 0 ? null : a4($, { children: [
      a4("h3", { children: "Findings" }),
      a4("ul", { class: "findings", children: assessment.findings.map((finding, index) => a4("li", { children: [
        a4("span", { class: `severity severity-${finding.severity}`, children: finding.severity }),
        a4("span", { children: finding.message }),
        a4("code", { children: finding.code })
      ] }, index)) })
    ] })
  ] });
}
function tone({ factor, score: score2 }) {
  const bad = factor === "context_certainty" ? 1 - score2 : score2;
  return bad < 0.25 ? "low" : bad <= 0.6 ? "medium" : "high";
}

// src/parts/changes.tsx
var AGAIN_MS = 5e3;
var mayChangeFiles = (approval) => !approval.card.body.some((field) => field.name === "Command");
function FileChanges({ approval }) {
  const read3 = useSignal(null);
  const changedAt = useSignal(null);
  const isAsked = mayAnswer.value && approval.status === "waiting" && mayChangeFiles(approval);
  A2(() => {
    read3.value = null;
    changedAt.value = null;
    if (!isAsked) return void 0;
    const look = async () => {
      if (document.visibilityState !== "visible") return;
      const found = await get(`/v1/approvals/${segment(approval.approval_id)}/changes`).catch(() => null);
      if (found === null) return;
      if (read3.value !== null && !isSame2(read3.value, found)) changedAt.value = found.read_at;
      read3.value = found;
      if (found.files.length === 0) clearInterval(timer);
    };
    const timer = window.setInterval(() => void look(), AGAIN_MS);
    void look();
    return () => clearInterval(timer);
  }, [approval.approval_id, isAsked]);
  if (read3.value === null || read3.value.files.length === 0) return null;
  return a4($, { children: [
    changedAt.value === null ? null : a4("p", { class: "problem", role: "status", children: [
      "A file changed at ",
      moment(changedAt.value),
      ", while this card was open. The difference below is the new one."
    ] }),
    read3.value.files.map((file) => a4(OneFile, { file }, file.path))
  ] });
}
var isSame2 = (one2, other) => JSON.stringify(one2.files) === JSON.stringify(other.files);
function OneFile({ file }) {
  const name = `Change to ${file.path}`;
  const after = file.after ?? null;
  if (after === null) {
    return a4("section", { class: "long", children: [
      a4("h3", { children: name }),
      a4("p", { class: "hint", children: [
        "Not compared with the file on disk: ",
        file.why ?? "it cannot be read",
        "."
      ] })
    ] });
  }
  const before = file.before ?? null;
  if (before === after) {
    return a4("section", { class: "long", children: [
      a4("h3", { children: name }),
      a4("p", { class: "hint", children: "The file already holds exactly this text." })
    ] });
  }
  const lines2 = before === null ? after.split("\n").map((text2, index) => ({ kind: "new", text: text2, fresh: index + 1 })) : compare(before, after);
  return a4(Difference, { name, lines: lines2, of: languageOf(file.path), folds: true, children: a4("p", { class: "hint", children: before === null ? "A new file." : "Compared with the file as it is now." }) });
}

// src/parts/body.tsx
var HEAD = { lines: 30, chars: 2400 };
var TAIL = { lines: 12, chars: 900 };
var FOLD = { lines: 80, chars: 8e3 };
var SPOKEN_NAMES = ["text", "body", "message", "content", "caption", "html"];
var isShort = (field) => !field.code && field.text.length <= 120 && (field.marks ?? []).length === 0 && !SPOKEN_NAMES.includes(field.name.toLowerCase());
function isLong(text2) {
  return text2.length > FOLD.chars || text2.split("\n").length > FOLD.lines;
}
var needsOpening = (approval) => approval.card.body.some((field) => isLong(field.text));
function Body({ approval, isOpen }) {
  const fields = approval.card.body;
  const changes = edit(approval.args);
  const compared = changes?.names ?? [];
  const rest = fields.filter((field) => !compared.includes(field.name));
  const short3 = rest.filter(isShort);
  return a4($, { children: [
    a4(Facts, { fields: short3 }),
    a4(FileChanges, { approval }),
    rest.filter((field) => !isShort(field)).map((field, index) => a4(Long, { field, approval, isOpen }, index)),
    changes === null ? null : a4(Difference, { name: "Change", lines: compare(changes.before, changes.after), of: languageOfArgument(changes.names[1], approval.args) })
  ] });
}
function Long({ field, approval, isOpen }) {
  const { args, digest } = approval;
  const of = languageOfArgument(field.name, args);
  if (isLong(field.text) && !isOpen) {
    const head = first(field.text);
    const tail = last(field.text.slice(head.length));
    const hidden = field.text.length - head.length - tail.length;
    return a4("section", { class: "long", children: [
      a4("h3", { children: field.name }),
      a4(Code, { name: `${field.name}, beginning`, text: head, of }),
      a4("p", { class: "hidden-part", children: [
        "… ",
        hidden.toLocaleString(),
        " of ",
        field.text.length.toLocaleString(),
        " characters hidden · ",
        digest.slice(0, 19),
        " …"
      ] }),
      a4(Code, { name: `${field.name}, end`, text: tail, of })
    ] });
  }
  if (isPatch(field.name, field.text)) return a4(Difference, { name: field.name, lines: patch(field.text), of });
  return a4("section", { class: "long", children: [
    a4("div", { class: "long-head", children: [
      a4("h3", { children: field.name }),
      a4(Copy, { name: field.name, text: field.text })
    ] }),
    field.code ? a4(Code, { name: field.name, text: field.text, marks: field.marks ?? [], of }) : a4(Prose, { text: field.text, marks: field.marks ?? [] })
  ] });
}
function first(text2) {
  return text2.split("\n").slice(0, HEAD.lines).join("\n").slice(0, HEAD.chars);
}
function last(text2) {
  return text2.split("\n").slice(-TAIL.lines).join("\n").slice(-TAIL.chars);
}

// src/arming.ts
var IN_VIEW_MS = 700;
var QUIET_MS = 300;
var touch = { at: -Infinity, quiet: Infinity };
function touched(event) {
  const at2 = event.timeStamp;
  touch = { at: at2, quiet: event instanceof KeyboardEvent && event.repeat ? 0 : at2 - touch.at };
}
window.addEventListener("keydown", (event) => {
  if (!["Shift", "Control", "Alt", "Meta"].includes(event.key)) touched(event);
}, { capture: true });
window.addEventListener("pointerdown", touched, { capture: true });
var Arming = class {
  #since = Infinity;
  /** The card came into view. */
  appeared() {
    if (this.#since === Infinity) this.#since = performance.now();
  }
  /** The card went out of view; it begins anew when it comes back. */
  vanished() {
    this.#since = Infinity;
  }
  /** Milliseconds until the card has been in view long enough. */
  left() {
    return Math.max(0, this.#since + IN_VIEW_MS - performance.now());
  }
  /** Whether `event` is a person's answer. */
  admits(event) {
    if (!event.isTrusted) return false;
    const at2 = event.timeStamp;
    const isOwn = event.type === "click" && at2 - touch.at > 1500;
    const { at: pressed, quiet } = isOwn ? { at: at2, quiet: at2 - touch.at } : touch;
    return pressed - this.#since >= IN_VIEW_MS && quiet >= QUIET_MS;
  }
};
function useArming(name) {
  const arming = w2(() => new Arming(), [name]);
  const armed = w2(() => y3(false), [name]);
  const watch = T2(null);
  A2(() => {
    const element = watch.current;
    if (element === null) return void 0;
    let timer = 0;
    let isSeen = false;
    const look = () => {
      clearTimeout(timer);
      if (isSeen && document.visibilityState === "visible") {
        arming.appeared();
        timer = window.setTimeout(() => {
          armed.value = true;
        }, arming.left());
      } else {
        arming.vanished();
        armed.value = false;
      }
    };
    const observer = new IntersectionObserver((entries) => {
      isSeen = entries.some((entry) => entry.isIntersecting);
      look();
    });
    observer.observe(element);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("visibilitychange", look);
    };
  }, [arming]);
  return { arming, armed, watch };
}

// src/edit.ts
var TELLING_NAMES = ["command", "cmd", "script", "text", "body", "message", "content"];
function subjectOf(approval) {
  const args = approval.args;
  const name = TELLING_NAMES.find((it) => typeof args[it] === "string");
  return name === void 0 ? "all" : { name };
}
function textOf(args, subject) {
  if (subject === "all") return JSON.stringify(args, null, 2);
  const value = args[subject.name];
  return typeof value === "string" ? value : "";
}
function argsWith(args, subject, text2) {
  if (subject !== "all") return { ...args, [subject.name]: text2 };
  try {
    const parsed2 = JSON.parse(text2);
    return typeof parsed2 === "object" && parsed2 !== null && !Array.isArray(parsed2) ? parsed2 : null;
  } catch {
    return null;
  }
}

// src/parts/edit.tsx
function EditPanel(props) {
  const { approval } = props;
  const subject = useSignal(subjectOf(approval));
  const text2 = useSignal(textOf(approval.args, subject.value));
  const judged = useSignal(null);
  const problem = useSignal(null);
  const isAsking = useSignal(false);
  const check = async () => {
    if (isAsking.value) return;
    const args = argsWith(approval.args, subject.value, text2.value);
    if (args === null) {
      problem.value = "This is not a JSON object. Correct it, or press Esc to leave the call as it is.";
      return;
    }
    isAsking.value = true;
    problem.value = null;
    try {
      const view = await post(`/v1/approvals/${segment(approval.approval_id)}/assess`, { args });
      judged.value = { args, view };
    } catch (error) {
      problem.value = `${explain(error)} Nothing was answered.`;
    } finally {
      isAsking.value = false;
    }
  };
  const switchTo = (to) => {
    const args = argsWith(approval.args, subject.value, text2.value);
    if (args === null) {
      problem.value = "This is not a JSON object.";
      return;
    }
    subject.value = to;
    text2.value = textOf(args, to);
  };
  if (judged.value !== null) return a4(Review, { ...props, judged: judged.value, onBack: () => judged.value = null });
  return a4(Write, { ...props, subject: subject.value, text: text2.value, problem: problem.value, onInput: (words) => text2.value = words, onSwitch: switchTo, onCheck: () => void check() });
}
function Write({ approval, subject, text: text2, problem, onInput, onSwitch, onCheck, onClose }) {
  const field = T2(null);
  F2(() => field.current?.focus(), []);
  useKeys({
    close: () => {
      onClose();
      return true;
    },
    choose: () => true
  });
  const typed = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onCheck();
  };
  const telling = subjectOf(approval);
  const isSame3 = text2 === textOf(approval.args, subject);
  return a4("section", { class: "edit", "aria-label": "Edit the call", children: [
    a4("label", { children: [
      a4("span", { children: subject === "all" ? "Arguments as JSON" : `Edit “${subject.name}”` }),
      a4("textarea", { ref: field, class: "edit-text", rows: Math.min(14, Math.max(3, text2.split("\n").length + 1)), spellcheck: false, value: text2, onInput: (event) => onInput(event.currentTarget.value), onKeyDown: typed })
    ] }),
    problem === null ? null : a4("p", { class: "problem", role: "alert", children: problem }),
    a4("p", { class: "hint", children: "The edited call is judged again before you can allow it. Ctrl+Enter checks it, Esc leaves the call as it is." }),
    a4("div", { class: "row-of-buttons", children: [
      a4("button", { type: "button", class: "button primary", "aria-disabled": isSame3, onClick: () => isSame3 ? void 0 : onCheck(), children: "Check the edited call" }),
      a4("button", { type: "button", class: "button", onClick: onClose, children: "Cancel" }),
      telling === "all" ? null : a4("button", { type: "button", class: "quiet", onClick: () => onSwitch(subject === "all" ? telling : "all"), children: subject === "all" ? `Edit only “${telling.name}”` : "Edit all arguments" })
    ] })
  ] });
}
function Review({ approval, judged, isBusy, onAllow, onDeny, onBack }) {
  const { view, args } = judged;
  const { arming, armed, watch } = useArming(`${approval.approval_id}/${view.digest}`);
  const isChosen = useSignal(false);
  const wasQuick = useSignal(false);
  const allow = T2(null);
  const isReady = armed.value && !isBusy && isCurrent.value;
  const press = (choice, event) => {
    if (isBusy || choice === "once" && !isReady) return;
    wasQuick.value = !arming.admits(event);
    if (wasQuick.value) return;
    if (choice === "deny") {
      onDeny();
      return;
    }
    const isConfirmed = event instanceof MouseEvent && (event.detail === 0 || isChosen.value);
    if (view.confirm_allow && !isConfirmed) {
      isChosen.value = true;
      allow.current?.focus();
    } else onAllow({ args });
  };
  useKeys({
    close: () => {
      onBack();
      return true;
    },
    choose: (event) => {
      if (Number(event.key) === NUMBERS.once) press("once", event);
      else if (Number(event.key) === NUMBERS.deny) press("deny", event);
      return true;
    }
  });
  const before = RISKS[approval.card.risk];
  const after = RISKS[view.card.risk];
  const [reason] = view.card.reasons;
  return a4("section", { class: "edit", "aria-label": "The edited call", children: [
    a4("p", { class: `edit-risk risk-${view.card.risk}`, role: "status", children: [
      a4("strong", { children: before === after ? `Risk stays ${after.toLowerCase()}` : `Risk ${before.toLowerCase()} → ${after.toLowerCase()}` }),
      reason === void 0 ? null : a4("span", { children: reason })
    ] }),
    a4("div", { class: "edit-difference", children: a4(Difference, { name: "Original and edited", lines: compare(readable(approval.args), readable(view.args)) }) }),
    a4("p", { class: "hint", children: wasQuick.value ? "Too fast: that press was ignored. Press again." : isChosen.value ? "Critical: press Enter, or click again, to allow it." : "1 allows the edited call once, 4 denies, Esc goes back to the text." }),
    a4("ol", { class: "choices", "aria-label": "Choices for the edited call", ref: (element) => void (watch.current = element), children: [
      a4("li", { children: a4("button", { type: "button", ref: allow, class: "choice choice-once", "aria-disabled": !isReady, onClick: (event) => press("once", event), children: [
        a4("kbd", { "aria-hidden": "true", children: NUMBERS.once }),
        a4("span", { children: [
          LABELS.once,
          ", as edited"
        ] })
      ] }) }),
      a4("li", { children: a4("button", { type: "button", class: "choice choice-deny", "aria-disabled": isBusy, onClick: (event) => press("deny", event), children: [
        a4("kbd", { "aria-hidden": "true", children: NUMBERS.deny }),
        a4("span", { children: LABELS.deny })
      ] }) })
    ] }),
    a4("div", { class: "row-of-buttons", children: a4("button", { type: "button", class: "button", onClick: onBack, children: "Back to the text" }) })
  ] });
}
function readable(args) {
  if (typeof args !== "object" || args === null) return JSON.stringify(args);
  const rows2 = Object.entries(args).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`);
  return rows2.join("\n");
}

// src/parts/scope.tsx
var LASTS = [
  ["1 hour", 3600],
  ["8 hours", 8 * 3600],
  ["7 days", 7 * 86400]
];
var USES = [
  ["Unlimited", null],
  ["Once more", 1],
  ["5 times", 5],
  ["20 times", 20]
];
function ScopePanel({ approval, choice, isBusy, onAnswer, onClose }) {
  const scopes = useSignal(null);
  const problem = useSignal(null);
  const chosen = useSignal(0);
  const lasts = useSignal(0);
  const uses = useSignal(0);
  const { arming, armed, watch } = useArming(`${approval.approval_id}/${choice}/${scopes.value === null ? "asked" : "shown"}`);
  const spans = [[choice === "session" ? "Until the session ends" : "Until revoked", null], ...LASTS];
  A2(() => {
    const preview = post("/v1/grants/preview", { approval_id: approval.approval_id });
    preview.then(
      (list) => scopes.value = list.scopes.filter((it) => choice === "session" || !it.session_only),
      (error) => problem.value = explain(error)
    );
  }, []);
  useKeys({
    close: () => {
      onClose();
      return true;
    },
    // Digits answer the card and nothing here; arrows and Enter choose.
    choose: () => true
  });
  const scope = scopes.value?.[chosen.value];
  const group = T2(null);
  A2(() => group.current?.querySelector("input:checked")?.focus(), [scopes.value]);
  const confirm = (event) => {
    if (scope === void 0 || isBusy || !isCurrent.value || !arming.admits(event)) return;
    const more = { scope: scope.scope };
    const seconds = spans[lasts.value]?.[1];
    const count = USES[uses.value]?.[1];
    if (typeof seconds === "number") more.lasts_seconds = seconds;
    if (typeof count === "number") more.uses = count;
    onAnswer(more);
  };
  return a4(
    "section",
    {
      class: "scope",
      onKeyDown: (event) => {
        if (event.key !== "Enter" || event.target instanceof HTMLButtonElement) return;
        event.preventDefault();
        confirm(event);
      },
      "aria-label": `${LABELS[choice]}: which grant it creates`,
      children: [
        a4("h3", { children: [
          LABELS[choice],
          ": create this grant"
        ] }),
        a4("p", { children: whose(approval, choice) }),
        problem.value === null ? null : a4("p", { class: "problem", children: problem.value }),
        scopes.value === null && problem.value === null ? a4(Loading, { what: "Checking what it would have matched" }) : null,
        scopes.value?.length === 0 ? a4("p", { children: "No grant is possible for this call." }) : null,
        a4("div", { class: "scopes", ref: group, role: "radiogroup", "aria-label": "Grants, narrowest first", children: scopes.value?.map((it, index) => a4("label", { class: "scope-row", children: [
          a4(
            "input",
            {
              type: "radio",
              name: `scope-${approval.approval_id}`,
              checked: chosen.value === index,
              onChange: () => chosen.value = index
            }
          ),
          a4("span", { children: [
            a4("span", { class: "scope-words", children: a4(Words, { text: it.words }) }),
            it.excludes === "" ? null : a4("small", { children: [
              "Still asks about: ",
              it.excludes,
              "."
            ] }),
            a4("small", { children: matched(it) })
          ] })
        ] }, index)) }),
        a4("div", { class: "scope-limits", children: [
          a4("label", { children: [
            a4("span", { children: "For how long" }),
            a4("select", { value: lasts.value, onChange: (event) => lasts.value = event.currentTarget.selectedIndex, children: spans.map(([words], index) => a4("option", { value: index, children: words }, words)) })
          ] }),
          a4("label", { children: [
            a4("span", { children: "How often" }),
            a4("select", { value: uses.value, onChange: (event) => uses.value = event.currentTarget.selectedIndex, children: USES.map(([words], index) => a4("option", { value: index, children: words }, words)) })
          ] })
        ] }),
        a4("div", { class: "row-of-buttons", ref: (element) => void (watch.current = element), children: [
          a4(
            "button",
            {
              type: "button",
              class: "button primary",
              "aria-disabled": !armed.value || isBusy || scope === void 0 || !isCurrent.value,
              onClick: confirm,
              children: LABELS[choice]
            }
          ),
          a4("button", { type: "button", class: "button", onClick: onClose, children: "Back" })
        ] })
      ]
    }
  );
}
function whose(approval, choice) {
  const text2 = (name) => approval.card.lineage.find((field) => field.name === name)?.text;
  const agent = text2("Agent");
  const key = text2("Asked by") ?? "this agent";
  const asker2 = agent === void 0 ? key : `${key} (${agent})`;
  return choice === "session" ? `For calls of ${asker2} in the session ${approval.session_id}.` : `For calls of ${asker2} in any session.`;
}
function matched(scope) {
  if (scope.matched === null || scope.of === null) return "";
  const words = `Would have matched ${scope.matched} of the last ${many(scope.of, "call")}`;
  return scope.riskiest === null ? `${words}.` : `${words}; the riskiest: ${scope.riskiest}`;
}

// src/parts/foot.tsx
var SAID_AT = [60, 30, 10];
function Foot(props) {
  const { approval, hasKeys, onNext } = props;
  if (approval.status === "waiting" && approval.held_until === null) {
    return mayAnswer.value ? a4(Choices, { ...props }) : a4(OnlyLooking, { approval });
  }
  if (approval.held_until !== null) return a4(Held, { approval, hasKeys, until: approval.held_until });
  return a4(Outcome, { approval, onNext });
}
var answeredHere = "";
function Outcome({ approval, onNext }) {
  const { decision } = approval;
  const line = T2(null);
  const words = decision === null ? approval.status : ending(decision, me.value?.name ?? "");
  F2(() => {
    if (answeredHere !== approval.approval_id) return;
    spoken.value = words;
    if (document.activeElement === document.body) line.current?.focus();
  }, [words]);
  return a4("footer", { class: `answer outcome outcome-${approval.status}`, children: [
    a4("p", { class: "outcome-words", ref: line, tabIndex: -1, children: [
      a4("strong", { children: words }),
      decision === null ? null : a4("span", { children: moment(decision.at) })
    ] }),
    decision?.note ? a4("p", { class: "note-said", children: [
      "“",
      decision.note,
      "”"
    ] }) : null,
    decision === null || edited(decision) === null ? null : a4("details", { children: [
      a4("summary", { children: [
        "Edited by ",
        decision.by === me.value?.name ? "you" : decision.by,
        ": original and edited"
      ] }),
      a4(Difference, { name: "Original and edited", lines: compare(readable(approval.args), readable(edited(decision))) })
    ] }),
    onNext === void 0 ? null : a4("button", { type: "button", class: "button", onClick: onNext, children: [
      "Next card ",
      a4("kbd", { children: "j" })
    ] })
  ] });
}
function OnlyLooking({ approval }) {
  return a4("footer", { class: "answer", children: [
    a4(Countdown, { approval, onExtend: void 0 }),
    a4("p", { class: "hint", children: "You can only view this. An approver answers it." })
  ] });
}
function Held({ approval, hasKeys, until }) {
  const problem = useSignal(null);
  const undo = async () => {
    problem.value = await takeBack(approval.approval_id);
  };
  useKeys(
    hasKeys ? {
      undo: () => {
        void undo();
        return true;
      }
    } : {}
  );
  const left = until - now.value;
  return a4("footer", { class: "answer outcome outcome-approved", children: [
    a4("p", { class: "outcome-words", role: "status", children: [
      a4("strong", { children: "Allowed" }),
      a4("span", { children: left > 0 ? `runs in ${span(left)}` : "runs now" })
    ] }),
    problem.value === null ? null : a4("p", { class: "problem", children: problem.value }),
    a4("button", { type: "button", class: "button", onClick: () => void undo(), children: [
      "Undo ",
      a4("kbd", { children: "z" })
    ] })
  ] });
}
function Countdown({ approval, onExtend }) {
  const left = approval.expires_at - now.value;
  useSignalEffect(() => {
    const seconds = Math.ceil(approval.expires_at - now.value);
    if (SAID_AT.includes(seconds)) spoken.value = `Expires in ${seconds} seconds`;
  });
  return a4("div", { class: "time-left", children: [
    a4("p", { class: left < 30 ? "countdown soon" : "countdown", title: approval.card.on_timeout, children: left > 0 ? `expires in ${span(left)}` : "expired: nobody answered" }),
    onExtend === void 0 || !isExtendable(approval) ? null : a4("button", { type: "button", class: "quiet", onClick: onExtend, children: [
      "Add ",
      span(approval.extend_seconds ?? 0),
      " ",
      a4("kbd", { children: "+" })
    ] })
  ] });
}
var isExtendable = ({ extend_seconds: more, expires_at: end }) => typeof more === "number" && end > now.value;
function Choices({ approval, hasKeys, isOpen, endSeen, onOpen, onAnswered }) {
  const { card } = approval;
  const mode = useSignal("choose");
  const note = useSignal("");
  const isBusy = useSignal(false);
  const wasQuick = useSignal(false);
  const problem = useSignal(null);
  const { arming, armed, watch } = useArming(`${approval.approval_id}/${hasKeys ? "keys" : ""}`);
  const list = T2(null);
  const noteField = T2(null);
  const chosen = useSignal(null);
  const isEmpty = card.command.trim() === "";
  const options = [...approval.choices.filter((choice) => !isEmpty || choice === "deny"), ...isOpen ? [] : ["view"]];
  const mayEdit = approval.editable === true && isOpen && approval.choices.includes("once");
  const isOffered = (option) => option === "deny" || option === "view" || isOpen;
  const isReady = (option) => {
    if (isBusy.value) return false;
    if (option === "view") return true;
    if (!armed.value) return false;
    return option === "deny" || isCurrent.value && endSeen;
  };
  const send = async (choice, more) => {
    isBusy.value = true;
    answeredHere = approval.approval_id;
    problem.value = await answer(approval.approval_id, choice, more);
    isBusy.value = false;
    if (problem.value !== null) return;
    mode.value = "choose";
    onAnswered?.();
  };
  const giveTime = async () => {
    const before = approval.expires_at;
    problem.value = await extend(approval.approval_id);
    const after = approvals.value.get(approval.approval_id)?.expires_at ?? before;
    if (after > before) spoken.value = `Expires in ${span(after - now.value)}`;
  };
  const needsConfirming = (option, event) => {
    if (option !== "once" || !approval.confirm_allow) return false;
    const isConfirmed = event instanceof MouseEvent && (event.detail === 0 || chosen.value === option);
    return !isConfirmed;
  };
  const choose = (option, event) => {
    if (option === "view") {
      onOpen();
      return;
    }
    if (!isReady(option)) return;
    wasQuick.value = !arming.admits(event);
    if (wasQuick.value) return;
    if (needsConfirming(option, event)) {
      chosen.value = option;
      list.current?.querySelector(`.choice-${option}`)?.focus();
    } else if (option === "session" || option === "always") mode.value = option;
    else void send(option);
  };
  const step = (by) => () => {
    if (mode.value !== "choose" || list.current === null) return false;
    const buttons = [...list.current.querySelectorAll("button")];
    const index = buttons.findIndex((button) => button === document.activeElement);
    const to = index === -1 ? buttons.find((button) => button.hasAttribute("data-first")) : buttons[(index + by + buttons.length) % buttons.length];
    to?.focus();
    return true;
  };
  F2(() => {
    if (mode.value === "deny") noteField.current?.focus();
  }, [mode.value]);
  const first2 = isGrave(card.risk) || !isOpen ? "deny" : approval.choices[0] ?? "deny";
  useKeys(
    hasKeys && (mode.value === "choose" || mode.value === "deny") ? {
      choose: (event) => {
        const option = options.find((it) => NUMBERS[it] === Number(event.key));
        if (mode.value !== "choose" || option === void 0 || !isOffered(option)) return false;
        choose(option, event);
        return true;
      },
      down: step(1),
      up: step(-1),
      note: () => {
        if (mode.value !== "choose") return false;
        mode.value = "deny";
        return true;
      },
      extend: () => {
        if (!isExtendable(approval)) return false;
        void giveTime();
        return true;
      },
      edit: () => {
        if (mode.value !== "choose" || !mayEdit) return false;
        mode.value = "edit";
        return true;
      },
      open: (event) => {
        if (event.target instanceof HTMLButtonElement || mode.value !== "choose") return false;
        if (event.target instanceof HTMLAnchorElement && event.target.getAttribute("aria-current") !== "true") return false;
        list.current?.querySelector("[data-first]")?.focus();
        return true;
      },
      close: () => {
        if (mode.value === "choose") return false;
        mode.value = "choose";
        return true;
      }
    } : {}
  );
  const deny = (event) => {
    event.preventDefault();
    if (isBusy.value || !event.isTrusted) return;
    void send("deny", note.value.trim() === "" ? {} : { note: note.value.trim() });
  };
  return a4("footer", { class: "answer", "data-armed": armed.value, children: [
    a4("div", { class: "answer-line", ref: (element) => void (watch.current = element), children: [
      a4(Countdown, { approval, onExtend: () => void giveTime() }),
      a4(
        "p",
        {
          class: "hint",
          role: wasQuick.value || chosen.value !== null ? "status" : void 0,
          "data-blocked": isCurrent.value && isOpen && endSeen ? void 0 : "",
          children: wasQuick.value ? "Too fast: that press was ignored. Press again." : chosen.value !== null ? "Critical: press Enter, or click again, to allow it." : mode.value === "edit" ? "" : hintFor(approval, armed.value, endSeen, isOpen)
        }
      ),
      mode.value === "choose" ? a4("div", { class: "answer-more", children: [
        mayEdit ? a4("button", { type: "button", class: "quiet", onClick: () => mode.value = "edit", children: [
          "Edit ",
          a4("kbd", { children: "e" })
        ] }) : null,
        a4("button", { type: "button", class: "quiet", onClick: () => mode.value = "deny", children: [
          "Deny with a note ",
          a4("kbd", { children: "n" })
        ] })
      ] }) : null
    ] }),
    problem.value === null ? null : a4("p", { class: "problem", role: "alert", children: problem.value }),
    mode.value === "session" || mode.value === "always" ? a4(
      ScopePanel,
      {
        approval,
        choice: mode.value,
        isBusy: isBusy.value,
        onAnswer: (more) => void send(mode.value, more),
        onClose: () => mode.value = "choose"
      }
    ) : null,
    mode.value === "edit" ? a4(
      EditPanel,
      {
        approval,
        isBusy: isBusy.value,
        onAllow: (more) => void send("once", more),
        onDeny: () => void send("deny"),
        onClose: () => mode.value = "choose"
      }
    ) : null,
    mode.value === "deny" ? a4("form", { class: "deny", onSubmit: deny, children: [
      a4("label", { children: [
        a4("span", { children: "Deny and tell the agent why" }),
        a4(
          "input",
          {
            ref: noteField,
            type: "text",
            maxLength: 1e3,
            value: note.value,
            autocomplete: "off",
            onInput: (event) => note.value = event.currentTarget.value
          }
        )
      ] }),
      a4("div", { class: "row-of-buttons", children: [
        a4("button", { type: "submit", class: "button danger", "aria-disabled": isBusy.value, children: "Deny" }),
        a4("button", { type: "button", class: "button", onClick: () => mode.value = "choose", children: "Back" })
      ] })
    ] }) : null,
    mode.value === "choose" ? a4("ol", { class: "choices", ref: list, "aria-label": "Choices", children: options.map(
      (option) => isOffered(option) ? a4("li", { children: a4(
        "button",
        {
          type: "button",
          class: `choice choice-${option}`,
          "data-first": option === first2 ? "" : void 0,
          "aria-disabled": !isReady(option),
          title: option === "view" ? void 0 : LEAVES[option],
          onClick: (event) => choose(option, event),
          children: [
            a4("kbd", { "aria-hidden": "true", children: NUMBERS[option] }),
            a4("span", { children: option === "view" ? "Show full command" : LABELS[option] })
          ]
        }
      ) }, option) : null
    ) }) : null
  ] });
}
function hintFor(approval, armed, endSeen, isOpen) {
  if (!isCurrent.value) return link.value === "away" ? "Offline: nothing can be answered." : "Catching up: nothing can be allowed until this is done.";
  if (!isOpen) return "Open the full text (5) to allow.";
  if (!endSeen) return "Read to the end (PgDn, End) to allow.";
  if (!armed) return "One moment …";
  return approval.confirm_allow ? "A number, then Enter, to allow; 4 to deny" : "A number answers, or ↑/↓ and Enter";
}

// src/parts/card.tsx
var REASONS_SHOWN = 3;
function CardView({ approval, hasKeys, isInline = false, onNext, onAnswered }) {
  const { card, assessment } = approval;
  const why = useSignal(false);
  const led = useSignal(false);
  const isOpen = useSignal(!needsOpening(approval));
  const endSeen = useSignal(!isGrave(card.risk));
  const end = T2(null);
  A2(() => {
    const element = end.current;
    if (element === null || endSeen.value || !isOpen.value) return void 0;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) endSeen.value = true;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [isOpen.value]);
  const open = () => {
    if (isOpen.value) return false;
    isOpen.value = true;
    if (mayAnswer.value) void viewed(approval.approval_id);
    return true;
  };
  const scrolled = T2(null);
  const scroll = (to) => (event) => {
    const own = scrolled.current;
    const element = own !== null && own.scrollHeight > own.clientHeight ? own : document.scrollingElement;
    if (!(element instanceof HTMLElement)) return false;
    if (event.key === " " && event.target instanceof HTMLElement && event.target.matches("button, a, input, summary")) return false;
    element.scrollTo({ top: to(element) });
    return true;
  };
  const page = (element) => Math.max(40, element.clientHeight - 48);
  useKeys(
    hasKeys ? {
      why: () => (why.value = !why.value) || true,
      mark: () => {
        open();
        requestAnimationFrame(() => toNextMark(scrolled.current));
        return true;
      },
      led: () => (led.value = !led.value) || true,
      full: open,
      page_down: scroll((it) => it.scrollTop + page(it)),
      page_up: scroll((it) => it.scrollTop - page(it)),
      // First to the end of what would run, then to the end of the card.
      end: (event) => {
        if (endSeen.value || end.current === null) return scroll((it) => it.scrollHeight)(event);
        end.current.scrollIntoView({ block: "end" });
        return true;
      },
      top: scroll(() => 0)
    } : {}
  );
  const quoted = card.lineage.filter((field) => field.code);
  const more = card.reasons.slice(1, why.value ? void 0 : REASONS_SHOWN);
  const rest = a4($, { children: [
    a4("section", { class: "reasons", children: [
      more.length === 0 ? null : a4("h3", { children: "Other reasons" }),
      more.length === 0 ? null : a4("ul", { children: more.map((reason, index) => a4("li", { children: reason }, index)) }),
      a4("button", { type: "button", class: "quiet", "aria-expanded": why.value, onClick: () => why.value = !why.value, children: [
        why.value ? "Less" : "Full analysis",
        " ",
        a4("kbd", { children: "w" })
      ] }),
      why.value ? a4(Why, { assessment }) : null,
      a4("button", { type: "button", class: "quiet", "aria-expanded": led.value, onClick: () => led.value = !led.value, children: [
        "What led here ",
        a4("kbd", { children: "b" })
      ] }),
      led.value ? a4(Led, { approval }) : null
    ] }),
    quoted.map((field, index) => a4(Quote, { name: field.name, text: field.text, marks: field.marks ?? [] }, index)),
    isInline ? a4("details", { class: "lineage", children: [
      a4("summary", { children: "Who asks" }),
      a4(Lineage, { approval })
    ] }) : a4("section", { class: "lineage", children: [
      a4("h3", { children: "Who asks" }),
      a4(Lineage, { approval })
    ] })
  ] });
  return a4("article", { class: `card edge-${card.risk}`, "aria-labelledby": `title-${approval.approval_id}`, children: [
    a4("div", { class: "card-scroll", ref: scrolled, children: [
      a4("header", { class: "card-head", children: [
        a4("p", { class: "verdict", children: [
          a4(RiskWord, { risk: card.risk }),
          a4("span", { children: approval.description })
        ] }),
        a4("h2", { id: `title-${approval.approval_id}`, tabIndex: -1, children: card.title }),
        assessment.crisis_sensitive ? a4("p", { class: "crisis", children: "This may affect a person in crisis. You can allow it once or deny it; grants are not offered." }) : null,
        (card.help_lines ?? []).length === 0 ? null : a4("ul", { class: "crisis", "aria-label": "Help lines", children: (card.help_lines ?? []).map((line, index) => a4("li", { children: line }, index)) })
      ] }),
      a4(Body, { approval, isOpen: isOpen.value }),
      a4("div", { ref: end, class: "end" }),
      isInline && approval.status !== "waiting" ? a4("details", { children: [
        a4("summary", { children: "Details" }),
        rest
      ] }) : rest,
      card.explanation === null ? null : a4("section", { class: "claim", children: [
        a4("h3", { children: "The agent says (unverified)" }),
        a4("blockquote", { children: card.explanation })
      ] })
    ] }),
    a4(Foot, { approval, hasKeys, isOpen: isOpen.value, endSeen: endSeen.value, onOpen: open, onNext, onAnswered })
  ] });
}
function toNextMark(within) {
  const marks = [...within?.querySelectorAll("mark") ?? []];
  const last2 = marks.findIndex((mark2) => mark2.hasAttribute("data-here"));
  for (const mark2 of marks) mark2.removeAttribute("data-here");
  const next = marks[last2 + 1] ?? marks[0];
  next?.setAttribute("data-here", "");
  next?.scrollIntoView({ block: "center" });
}
function Lineage({ approval }) {
  const { card } = approval;
  const lineage = card.lineage.filter((field) => !field.code);
  const isOurs = lineage.some((field) => field.name === "Asked by" && field.text === "builtin");
  const links = {
    Run: callsOf("run_id", approval.run_id),
    Session: isOurs ? at("talk", approval.session_id) : callsOf("session_id", approval.session_id)
  };
  const linked = lineage.map((field) => links[field.name] === void 0 ? field : { ...field, href: links[field.name] ?? "" });
  return a4($, { children: [
    a4(
      Facts,
      {
        fields: [
          ...linked,
          { name: "Asked", text: `${moment(approval.created_at)}, ${ago(approval.created_at, now.value)}` },
          { name: "Tier", text: `${card.tier}, ${TIERS[card.tier] ?? ""}` },
          { name: "Can also answer", text: othersWords() }
        ]
      }
    ),
    a4("p", { class: "digest", children: [
      "Bound to ",
      a4("code", { children: approval.digest }),
      " ",
      a4(Copy, { name: "the digest", text: approval.digest })
    ] })
  ] });
}
function othersWords() {
  const others2 = people.value.filter((person) => person.name !== me.value?.name && person.roles.some((role) => role !== "viewer")).map((person) => person.name);
  if (others2.length === 0) return "nobody else";
  const shown2 = others2.slice(0, 6).join(", ");
  return others2.length > 6 ? `${shown2} and ${others2.length - 6} more` : shown2;
}

// src/parts/override.tsx
function Overrides() {
  const free = useLoaded(() => get("/v1/overrides"), ["session.override"]);
  const live = (free.value.value?.overrides ?? []).filter((it) => (it.until ?? 0) > now.value);
  return a4($, { children: live.map((it) => a4(Override, { override: it, onEnded: free.again }, `${it.key_id} ${it.session_id}`)) });
}
function Override({ override, onEnded }) {
  const problem = useSignal(null);
  const end = async () => {
    try {
      await remove(`/v1/sessions/${segment(override.session_id)}/yolo?key_id=${segment(override.key_id)}`);
      say("The session asks questions again.");
      onEnded();
    } catch (error) {
      problem.value = explain(error);
    }
  };
  const left = override.until ? span(override.until - now.value) : "";
  return a4("section", { class: "panel fill warning", children: [
    a4("header", { class: "item-head", children: [
      a4("span", { class: "pill tone-ask", children: [
        left,
        " left"
      ] }),
      a4("h2", { children: [
        "Session ",
        override.session_id,
        " ",
        override.words
      ] })
    ] }),
    a4("p", { children: [
      "Started by ",
      override.by,
      ": ",
      override.reason === "" ? "no reason given" : override.reason,
      ". Catastrophic calls are still refused; crisis, money, the firewall itself and outbound calls still ask."
    ] }),
    problem.value === null ? null : a4("p", { class: "problem", role: "alert", children: problem.value }),
    mayAnswer.value ? a4("button", { type: "button", class: "button", onClick: () => void end(), children: "End now" }) : null
  ] });
}

// src/parts/question.tsx
function QuestionView({ question, hasKeys }) {
  return a4("article", { class: "card edge-question", "aria-labelledby": `title-${question.clarification_id}`, children: [
    a4("div", { class: "card-scroll", children: [
      a4("header", { class: "card-head", children: [
        a4("p", { class: "verdict", children: [
          a4("span", { class: "risk risk-question", children: "Question" }),
          a4("span", { children: "From an agent. An answer permits nothing." })
        ] }),
        a4("h2", { id: `title-${question.clarification_id}`, class: "question-text", children: question.question })
      ] }),
      a4(
        Facts,
        {
          fields: [
            { name: "Run", text: question.run_id },
            { name: "Session", text: question.session_id },
            { name: "Asked", text: moment(question.created_at) }
          ]
        }
      )
    ] }),
    question.status === "waiting" && mayAnswer.value ? a4(Answers, { question, hasKeys }) : a4("footer", { class: "answer outcome", children: a4("p", { class: "outcome-words", children: a4("strong", { children: said(question) }) }) })
  ] });
}
function said(question) {
  if (question.status === "waiting") return "Waiting for an approver.";
  const answer2 = question.answer;
  if (answer2 === null || !answer2.answered) return "Nobody answered in time.";
  return `${answer2.by ?? "Somebody"} answered: ${answer2.text ?? ""}`;
}
function Answers({ question, hasKeys }) {
  const { arming, armed, watch } = useArming(question.clarification_id);
  const other = useSignal(question.choices.length === 0);
  const text2 = useSignal("");
  const problem = useSignal(null);
  const field = T2(null);
  const wantsFocus = T2(false);
  F2(() => {
    if (other.value && wantsFocus.current) field.current?.focus();
  }, [other.value]);
  const send = async (body) => {
    const path2 = `/v1/clarifications/${segment(question.clarification_id)}`;
    try {
      putQuestion(await post(`${path2}/answer`, body));
    } catch (error) {
      if (error instanceof ApiError && (error.status === 409 || error.status === 410)) {
        putQuestion(await get(path2));
      } else {
        problem.value = explain(error);
      }
    }
  };
  const choose = (index, event) => {
    if (!arming.admits(event)) return;
    if (index < question.choices.length) void send({ choice: index + 1 });
    else {
      wantsFocus.current = true;
      other.value = true;
    }
  };
  useKeys(
    hasKeys ? {
      choose: (event) => {
        const index = Number(event.key) - 1;
        if (other.value || index > question.choices.length) return false;
        choose(index, event);
        return true;
      },
      close: () => {
        if (!other.value || question.choices.length === 0) return false;
        other.value = false;
        return true;
      }
    } : {}
  );
  const submit = (event) => {
    event.preventDefault();
    if (event.isTrusted && text2.value.trim() !== "") void send({ text: text2.value.trim() });
  };
  const options = [...question.choices, "Other (type your answer)"];
  return a4("footer", { class: "answer", "data-armed": armed.value, children: [
    a4("div", { class: "answer-line", ref: (element) => void (watch.current = element), children: a4("p", { class: "countdown", children: [
      "expires in ",
      span(question.expires_at - now.value)
    ] }) }),
    problem.value === null ? null : a4("p", { class: "problem", role: "alert", children: problem.value }),
    other.value ? a4("form", { class: "deny", onSubmit: submit, children: [
      a4("label", { children: [
        a4("span", { children: "Your answer" }),
        a4(
          "input",
          {
            ref: field,
            type: "text",
            maxLength: 4e3,
            value: text2.value,
            autocomplete: "off",
            onInput: (event) => text2.value = event.currentTarget.value
          }
        )
      ] }),
      a4("div", { class: "row-of-buttons", children: [
        a4("button", { type: "submit", class: "button primary", children: "Answer" }),
        question.choices.length === 0 ? null : a4("button", { type: "button", class: "button", onClick: () => other.value = false, children: "Back" })
      ] })
    ] }) : a4("ol", { class: "choices", "aria-label": "Choices", children: options.map((option, index) => a4("li", { children: a4("button", { type: "button", class: "choice", "aria-disabled": !armed.value, onClick: (event) => choose(index, event), children: [
      a4("kbd", { "aria-hidden": "true", children: index + 1 }),
      a4("span", { children: option })
    ] }) }, index)) })
  ] });
}

// src/parts/virtual.tsx
var BEYOND = 6;
function VirtualList({ items, rowRem, label, shown: shown2, id, row, onEnd }) {
  const box = T2(null);
  const [view, setView] = d2({ top: 0, height: 800 });
  const rowHeight = rowRem * rem();
  F2(() => {
    const element = box.current;
    if (element === null) return void 0;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  F2(() => {
    const element = box.current;
    if (element === null || shown2 === void 0 || shown2 < 0) return;
    const top = shown2 * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    const end = top + rowHeight - element.clientHeight;
    if (end > element.scrollTop) element.scrollTop = end;
  }, [shown2]);
  const first2 = Math.max(0, Math.floor(view.top / rowHeight) - BEYOND);
  const last2 = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + BEYOND);
  const isAtEnd = last2 >= items.length;
  F2(() => {
    if (isAtEnd) onEnd?.();
  }, [isAtEnd, items.length]);
  return a4("div", { class: "virtual", ref: box, children: a4("ul", { "aria-label": label, style: { height: `${items.length * rowRem}rem` }, children: items.slice(first2, last2).map((item, offset) => {
    const index = first2 + offset;
    return a4(
      "li",
      {
        "aria-setsize": items.length,
        "aria-posinset": index + 1,
        style: { height: `${rowRem}rem`, top: `${index * rowRem}rem` },
        children: row(item, index)
      },
      id(item)
    );
  }) }) });
}
var rem = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

// src/settings.ts
function kept(name, usual) {
  const key = `countersign.${name}`;
  const made = y3(read2(key) ?? usual);
  x2(() => {
    try {
      localStorage.setItem(key, String(made.value));
    } catch {
    }
  });
  return made;
}
function read2(key) {
  try {
    const text2 = localStorage.getItem(key);
    return text2 === null ? null : text2 === "true";
  } catch {
    return null;
  }
}
var notifies = kept("notifies", false);
var sounds = kept("sounds", false);
var advances = kept("advances", true);

// src/session.ts
var KEY = /^cs_[a-z]+_/;
async function signIn() {
  const code = codeOf(location.hash);
  if (code === null) return null;
  settle2("/");
  return tried(redeem(code));
}
async function signInWith(pasted) {
  const text2 = pasted.trim();
  if (text2 === "") return "Paste a link, a code or a key first.";
  if (KEY.test(text2)) return tried(codeFor(text2).then(redeem));
  const end = text2.indexOf("#");
  return tried(redeem((end === -1 ? null : codeOf(text2.slice(end))) ?? text2));
}
var redeem = (code) => post("/v1/login", { code });
async function codeFor(key) {
  const made = await request("POST", "/v1/login/code", {}, { authorization: `Bearer ${key}` });
  return made.code;
}
async function tried(attempt2) {
  try {
    await attempt2;
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.code === "invalid_credential") return "This key is not valid. It may have been revoked.";
    if (error instanceof ApiError && error.code === "forbidden") return "This is the key of an agent. Sign in with the key of a person.";
    return explain(error);
  }
}
var hasCode = () => codeOf(location.hash) !== null;
var codeOf = (hash2) => new URLSearchParams(hash2.slice(1)).get("code");

// src/parts/help.tsx
function Help({ onClose }) {
  return a4(Dialog, { title: "Keys", onClose, children: [
    a4("dl", { class: "keys", children: KEYS.map((row) => a4("div", { children: [
      a4("dt", { children: row.shown.split(" ").map((key) => a4("kbd", { children: key }, key)) }),
      a4("dd", { children: row.does })
    ] }, row.command)) }),
    a4("p", { class: "hint", children: "A key counts once a card has been in view for 0.7 seconds and nothing was pressed for 0.3. Earlier keys are ignored." })
  ] });
}

// src/parts/lazy.tsx
function lazy(load) {
  const loaded = y3(null);
  const isFailed = y3(false);
  const begin = () => {
    isFailed.value = false;
    load().then(
      (found) => loaded.value = found,
      () => isFailed.value = true
    );
  };
  return function Lazy() {
    A2(() => {
      if (loaded.value === null) begin();
    }, []);
    if (loaded.value !== null) return a4(loaded.value, {});
    return isFailed.value ? a4(NotLoaded, {}) : a4(Loading, {});
  };
}
function NotLoaded() {
  return a4(Empty, { icon: "search", title: "This view could not be loaded", children: [
    a4("p", { children: "The gateway is offline, or it was updated after this page was opened." }),
    a4("button", { type: "button", class: "button", onClick: () => location.reload(), children: "Reload the page" })
  ] });
}

// src/wire.gen.ts
var FOLD_MIN2 = 3;

// src/groups.ts
function foldKey(item) {
  return item.kind === "approval" ? item.approval.fold_key ?? null : null;
}
function folded2(items, open) {
  const groups = /* @__PURE__ */ new Map();
  for (const item of items) {
    const key = foldKey(item);
    if (key === null || item.kind !== "approval") continue;
    const group = groups.get(key);
    if (group === void 0) groups.set(key, [item.approval]);
    else group.push(item.approval);
  }
  const made = [];
  const done = /* @__PURE__ */ new Set();
  for (const item of items) {
    const key = foldKey(item);
    const members = key === null ? void 0 : groups.get(key);
    if (key === null || members === void 0 || members.length < FOLD_MIN2) {
      made.push({ kind: "item", key: item.id, item, isMember: false });
      continue;
    }
    if (done.has(key)) continue;
    done.add(key);
    const isOpen = open.has(key);
    made.push({ kind: "group", key, members, isOpen });
    if (!isOpen) continue;
    for (const approval of members) {
      made.push({ kind: "item", key: approval.approval_id, item: { kind: "approval", id: approval.approval_id, approval }, isMember: true });
    }
  }
  return made;
}
function common(members) {
  const texts = members.map((it) => it.command);
  let shared = texts[0] ?? "";
  for (const text2 of texts) {
    let length = 0;
    while (length < shared.length && shared[length] === text2[length]) length += 1;
    shared = shared.slice(0, length);
  }
  return shared.trim();
}

// src/order.ts
var ORDERS = { expiry: "Expires first", risk: "Riskiest first", newest: "Newest first" };
var order = y3("expiry");
var filters = { words: y3(""), risk: y3(""), agent: y3(""), session: y3("") };
var isFiltered = () => Object.values(filters).some((filter) => filter.value.trim() !== "");
function unfilter() {
  for (const filter of Object.values(filters)) filter.value = "";
}
var GRAVITY = Object.keys(RISKS);
var asked2 = (item) => item.kind === "approval" ? item.approval.created_at : item.question.created_at;
var expires = (item) => item.kind === "approval" ? item.approval.expires_at : item.question.expires_at;
var gravity = (item) => item.kind === "approval" ? GRAVITY.indexOf(item.approval.card.risk) : -1;
var COMPARE = {
  expiry: (a5, b3) => expires(a5) - expires(b3),
  risk: (a5, b3) => gravity(b3) - gravity(a5) || expires(a5) - expires(b3),
  newest: (a5, b3) => asked2(b3) - asked2(a5)
};
var inOrder = (a5, b3) => COMPARE[order.value](a5, b3) || asked2(a5) - asked2(b3) || (a5.id < b3.id ? -1 : 1);
function asker(approval) {
  const named = (name) => approval.card.lineage.find((field) => field.name === name)?.text;
  return named("Agent") ?? named("Asked by") ?? "";
}
var sessionOf = (item) => item.kind === "approval" ? item.approval.session_id : item.question.session_id;
var agentOf = (item) => item.kind === "approval" ? asker(item.approval) : "";
var riskOf2 = (item) => item.kind === "approval" ? item.approval.card.risk : "";
function matches(item) {
  const { words, risk, agent, session } = filters;
  const isWanted = (filter, value) => filter === "" || filter === value;
  if (!isWanted(risk.value, riskOf2(item)) || !isWanted(agent.value, agentOf(item)) || !isWanted(session.value, sessionOf(item))) return false;
  const wanted = words.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (wanted.length === 0) return true;
  const text2 = textOf2(item);
  return wanted.every((word) => text2.includes(word));
}
function textOf2(item) {
  if (item.kind === "question") return `question ${item.question.question} ${item.question.session_id}`.toLowerCase();
  const { card, command, session_id: session } = item.approval;
  return [card.risk, card.title, command, session, ...card.lineage.map((field) => field.text)].join(" ").toLowerCase();
}
function differing(items, by) {
  const of = by === "agent" ? agentOf : sessionOf;
  const values = [...new Set(items.map(of))].filter((value) => value !== "").sort();
  return values.length > 1 ? values : [];
}

// src/views/nothing.tsx
var HOUR = 3600;
var WAYS = [
  {
    name: "Connect the agents on this machine",
    lines: ["countersign init"]
  },
  {
    name: "Or give another agent a key",
    lines: ["countersign keys create --role agent --name my-agent"]
  },
  {
    name: "Then have it ask before each tool",
    lines: [
      'curl $COUNTERSIGN_URL/v1/calls -H "Authorization: Bearer $KEY" \\',
      `  --json '{"tool":"terminal","args":{"command":"ls"},"session_id":"s1"}'`
    ]
  }
];
function Nothing() {
  const recent = useSignal(null);
  const isNew = useSignal(false);
  const problem = useSignal(null);
  const look = async () => {
    try {
      const since = Math.floor(now.peek() - HOUR);
      const found = await get(`/v1/stats?since=${since}`);
      if (found.calls === 0) isNew.value = (await get("/v1/stats?since=0")).calls === 0;
      else isNew.value = false;
      recent.value = found;
    } catch (error) {
      problem.value = error;
    }
  };
  A2(() => {
    void look();
    let timer = 0;
    const stop = listen((event) => {
      if (event.event !== "call.assessed") return;
      clearTimeout(timer);
      timer = window.setTimeout(() => void look(), 500);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  if (problem.value !== null) return a4(Problem, { error: problem.value, again: () => void look() });
  if (recent.value === null) return a4(Loading, {});
  if (isNew.value) return a4(FirstVisit, {});
  const { buckets, calls } = recent.value;
  const alone = buckets.reduce((all, bucket) => all + bucket.allow + bucket.allow_then_review, 0);
  const refused = buckets.reduce((all, bucket) => all + bucket.refuse, 0);
  const asked3 = calls - alone - refused;
  return a4(Empty, { icon: "check", title: "Nothing waiting", children: [
    a4("p", { children: calls === 0 ? "No agent asked for anything in the last hour." : `In the last hour: ${many(alone, "call")} ran without a question, ${refused} refused, ${many(asked3, "question")} asked.` }),
    a4("p", { class: "hint", children: "A card appears here when a call needs a person. Its buttons work after a short delay, so nothing is answered by accident." }),
    a4(Practice, {})
  ] });
}
function FirstVisit() {
  return a4("div", { class: "page first-visit", children: [
    a4("h1", { children: "Nothing waiting, and no agent connected yet" }),
    a4("p", { class: "lead", children: "Every call of an agent is judged here first. Harmless calls run immediately; the few that matter wait for you on this page." }),
    a4("section", { class: "panel highlight", children: [
      a4("h2", { children: "Try it" }),
      a4("p", { children: "A practice card looks like a real one. Nothing runs, whatever you answer." }),
      a4(Practice, {})
    ] }),
    WAYS.map((way) => a4("section", { class: "panel", children: [
      a4("h2", { children: way.name }),
      a4(Commands, { lines: way.lines })
    ] }, way.name))
  ] });
}
function Practice() {
  const problem = useSignal(null);
  if (!mayAnswer.value) return null;
  const ask = async () => {
    try {
      const made = await post("/v1/practice");
      go(at("approvals", made.approval_id));
    } catch (error) {
      problem.value = explain(error);
    }
  };
  return a4($, { children: [
    a4("button", { type: "button", class: "button primary", onClick: () => void ask(), children: "Try a practice card" }),
    problem.value === null ? null : a4("p", { class: "problem", children: problem.value })
  ] });
}

// src/views/inbox.tsx
var ROW_REM = 5.25;
var ADVANCE_MS = 1e3;
var opened = y3(/* @__PURE__ */ new Set());
var selected = y3(/* @__PURE__ */ new Set());
var current2 = O(() => {
  const [kind, id] = place.value.parts;
  if (kind === "approvals" && id !== void 0) {
    const approval = rows.value.get(id);
    return approval === void 0 ? null : { kind: "approval", id, approval };
  }
  if (kind === "questions" && id !== void 0) {
    const question = questions.value.get(id);
    return question === void 0 ? null : { kind: "question", id, question };
  }
  return null;
});
var answered = O(() => {
  const it = current2.value;
  return it === null || !matches(it) || waiting.value.some((item) => item.id === it.id) ? null : it;
});
var listed = O(() => waiting.value.filter(matches).sort(inOrder));
var shown = O(() => {
  const items = answered.value === null ? listed.value : [...listed.value, answered.value].sort(inOrder);
  return folded2(items, opened.value);
});
var addressOf = (item) => at(item.kind === "approval" ? "approvals" : "questions", item.id);
function Inbox() {
  const [kind, id] = place.value.parts;
  const isChosen = kind !== void 0 && kind !== "inbox" && id !== void 0;
  const field = T2(null);
  useFirst(isChosen);
  useCards(kind, id);
  const move = (step) => {
    const list = shown.value;
    const from = list.findIndex((row) => row.kind === "item" && row.item.id === current2.value?.id);
    for (let index = from + step; index >= 0 && index < list.length; index += step) {
      const row = list[index];
      if (row?.kind === "item") return select(row.item);
      if (row?.kind === "group" && !row.isOpen) {
        toggle(row.key);
        const [first2] = row.members;
        if (first2 !== void 0) return select({ kind: "approval", id: first2.approval_id, approval: first2 });
      }
    }
    return true;
  };
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    filter: () => {
      field.current?.focus();
      return true;
    },
    select: () => {
      if (current2.value?.kind === "approval") mark([current2.value.approval]);
      return true;
    },
    select_group: () => {
      mark(groupOf(current2.value));
      return true;
    },
    close: (event) => {
      if (event.target === field.current) {
        unfilter();
        field.current?.blur();
        return true;
      }
      if (selected.value.size > 0) {
        selected.value = /* @__PURE__ */ new Set();
        return true;
      }
      return false;
    }
  });
  if (link.value === "starting") return a4(Loading, { what: "Loading the inbox" });
  const isEmpty = waiting.value.length === 0 && current2.value === null;
  if (isEmpty && !isChosen) {
    return a4($, { children: [
      a4(Overrides, {}),
      a4(Nothing, {})
    ] });
  }
  return a4("div", { class: isChosen ? "inbox has-card" : "inbox", children: [
    a4("section", { class: "list", "aria-label": "Waiting", children: [
      a4("div", { class: "list-head", children: [
        a4("h1", { children: [
          "Inbox ",
          a4("span", { class: "quantity", children: `${waiting.value.length.toLocaleString()} waiting` })
        ] }),
        a4("label", { class: "search", children: [
          a4(Icon, { name: "search" }),
          a4("span", { class: "unseen", children: "Filter" }),
          a4(
            "input",
            {
              ref: field,
              type: "search",
              placeholder: "Filter",
              value: filters.words.value,
              onInput: (event) => filters.words.value = event.currentTarget.value
            }
          ),
          a4("kbd", { "aria-hidden": "true", children: "/" })
        ] }),
        a4(Narrowing, {})
      ] }),
      a4(Overrides, {}),
      a4(List, {}),
      a4(Batch, {})
    ] }),
    a4("section", { class: "detail", "aria-label": "Card", children: [
      a4("h1", { class: "unseen narrow", children: "Card" }),
      a4("a", { class: "back", href: "#/", children: [
        a4(Icon, { name: "back" }),
        " Inbox"
      ] }),
      a4(Detail, { onNext: () => move(1), isChosen })
    ] })
  ] });
}
function useFirst(isChosen) {
  A2(() => {
    const first2 = waiting.value[0];
    if (isChosen || first2 === void 0 || !matchMedia("(min-width: 60rem)").matches) return;
    settle2(addressOf(first2));
  });
}
function useCards(kind, id) {
  const isRead = kind === "approvals" && id !== void 0 && approvals.value.has(id);
  A2(() => {
    if (id !== void 0) tidy(id);
  }, [id]);
  A2(() => {
    if (kind !== "approvals" || id === void 0) return;
    if (!isRead) return need(id);
    const items = shown.value.filter((row) => row.kind === "item").map((row) => row.item);
    const index = items.findIndex((item) => item.id === id);
    for (const beside of [items[index + 1], items[index - 1]]) if (beside?.kind === "approval") need(beside.id);
  }, [kind, id, isRead, link.value]);
}
function select(item) {
  settle2(addressOf(item));
  return true;
}
function toggle(key) {
  const next = new Set(opened.value);
  if (!next.delete(key)) next.add(key);
  opened.value = next;
}
function mark(members) {
  const ids = members.map((it) => it.approval_id);
  const next = new Set(selected.value);
  const isAll = ids.every((id) => next.has(id));
  for (const id of ids) {
    if (isAll) next.delete(id);
    else next.add(id);
  }
  selected.value = next;
}
function groupOf(item) {
  if (item?.kind !== "approval") return [];
  const group = shown.value.find((row) => row.kind === "group" && row.members.some((it) => it.approval_id === item.id));
  return group?.kind === "group" ? group.members : [item.approval];
}
function List() {
  const index = shown.value.findIndex((row) => row.kind === "item" && row.item.id === current2.value?.id);
  if (shown.value.length === 0) {
    return a4("p", { class: "hint pad", children: [
      "No waiting card matches the filter.",
      " ",
      a4("button", { type: "button", class: "quiet", onClick: unfilter, children: "Clear the filter" })
    ] });
  }
  return a4(
    VirtualList,
    {
      items: shown.value,
      rowRem: ROW_REM,
      label: "Waiting",
      shown: index,
      id: (row) => row.key,
      row: (row) => row.kind === "group" ? a4(GroupRow, { row }) : a4(ItemRow, { item: row.item, isMember: row.isMember })
    }
  );
}
function Narrowing() {
  const choice = (name, value, options) => options.length < 2 ? null : a4("select", { "aria-label": name, value: value.value, onChange: (event) => value.value = event.currentTarget.value, children: options.map(([word, label]) => a4("option", { value: word, children: label }, word)) });
  const any = (label, values) => values.length === 0 ? [] : [["", label], ...values.map((value) => [value, value])];
  const items = waiting.value;
  if (items.length < 2 && !isFiltered()) return null;
  return a4("div", { class: "narrowing", children: [
    choice("Order", order, Object.entries(ORDERS)),
    choice("Risk", filters.risk, [["", "Any risk"], ...Object.entries(RISKS).reverse()]),
    choice("Agent", filters.agent, any("Any agent", differing(items, "agent"))),
    choice("Session", filters.session, any("Any session", differing(items, "session")))
  ] });
}
function GroupRow({ row }) {
  const [first2] = row.members;
  if (first2 === void 0) return null;
  return a4("button", { type: "button", class: `row edge-${first2.card.risk}`, "aria-expanded": row.isOpen, onClick: () => toggle(row.key), children: [
    a4("span", { class: "row-top", children: a4("code", { children: [
      row.members.length,
      " × ",
      short2(common(row.members)),
      " …"
    ] }) }),
    a4("span", { class: "row-meta", children: [
      a4(RiskWord, { risk: first2.card.risk }),
      " ",
      asker(first2)
    ] }),
    a4("span", { class: "row-meta", children: [
      row.isOpen ? "Collapse" : "Expand",
      " · ",
      first2.description
    ] })
  ] });
}
function ItemRow({ item, isMember }) {
  const isCurrentRow = current2.value?.id === item.id;
  if (item.kind === "question") {
    return a4("a", { class: "row edge-question", href: addressOf(item), "aria-current": isCurrentRow ? "true" : void 0, children: [
      a4("span", { class: "row-top", children: [
        a4("span", { class: "row-title", children: item.question.question }),
        a4(Left, { until: item.question.expires_at, verb: "" })
      ] }),
      a4("span", { class: "row-meta", children: [
        a4("span", { class: "risk risk-question", children: "Question" }),
        " of an agent"
      ] }),
      a4("span", { class: "row-meta", children: [
        "session ",
        item.question.session_id
      ] })
    ] });
  }
  const { approval } = item;
  const isSelected = selected.value.has(item.id);
  const isWaiting = approval.status === "waiting";
  const classes = ["row", `edge-${approval.card.risk}`, isMember ? "member" : "", isSelected ? "selected" : "", isWaiting ? "" : "settled"];
  return a4($, { children: [
    a4("a", { class: classes.join(" "), href: addressOf(item), "aria-current": isCurrentRow ? "true" : void 0, children: [
      a4("span", { class: "row-top", children: [
        a4("code", { children: short2(gist(approval)) }),
        isWaiting ? a4(Left, { until: approval.expires_at, verb: "" }) : a4("span", { class: "left", children: approval.status })
      ] }),
      a4("span", { class: "row-meta", children: [
        a4(RiskWord, { risk: approval.card.risk }),
        " ",
        asker(approval)
      ] }),
      a4("span", { class: "row-meta", children: approval.description })
    ] }),
    mayAnswer.value && isWaiting ? a4("label", { class: "pick", children: [
      a4("input", { type: "checkbox", checked: isSelected, onChange: () => mark([approval]) }),
      a4("span", { class: "unseen", children: [
        "Select ",
        approval.card.title
      ] })
    ] }) : null
  ] });
}
var short2 = (text2) => text2.slice(0, 400).replaceAll("⟨U+000A⟩", " ↵ ").slice(0, 200);
function gist(approval) {
  if (!approval.command.startsWith(`${approval.card.tool} {`)) return approval.command;
  const telling = approval.card.body.map((field) => field.text.replace(/\s+/g, " ").trim()).filter((text2) => /\p{L}{2}/u.test(text2) && !/^(true|false|null|none)$/i.test(text2) && !approval.card.title.includes(text2));
  return [approval.card.title, ...telling].join(" · ");
}
function Left({ until, verb }) {
  const left = useComputed(() => span(until - now.value));
  return a4("span", { class: "left", children: [
    verb,
    " ",
    left
  ] });
}
function Detail({ onNext, isChosen }) {
  const item = current2.value;
  if (item === null) {
    if (!isChosen) return null;
    return link.value === "live" ? a4(Empty, { icon: "search", title: "Card not found", isPart: true, children: [
      a4("p", { children: "It may belong to another gateway, or its record was deleted." }),
      a4("a", { class: "button", href: "#/", children: "Go to the inbox" })
    ] }) : a4(Loading, {});
  }
  if (item.kind === "question") return a4(QuestionView, { question: item.question, hasKeys: true }, item.id);
  const card = approvals.value.get(item.id);
  if (card === void 0) return a4(Loading, { what: "Loading the card" });
  const isMore = waiting.value.some((it) => it.id !== item.id);
  return a4(
    CardView,
    {
      approval: card,
      hasKeys: true,
      onNext: isMore ? () => void onNext() : void 0,
      onAnswered: () => {
        if (!advances.value) return;
        setTimeout(() => {
          const it = current2.value;
          if (it?.kind === "approval" && it.id === item.id && it.approval.status !== "waiting") onNext();
        }, ADVANCE_MS);
      }
    },
    item.id
  );
}
function Batch() {
  const chosen = useComputed(
    () => [...selected.value].map((id) => rows.value.get(id)).filter((it) => it?.status === "waiting" && it.held_until === null).filter((it) => it !== void 0)
  );
  useSignalEffect(() => need(...chosen.value.map((it) => it.approval_id)));
  const isBusy = useSignal(false);
  const { arming, armed, watch } = useArming(String(chosen.value.length));
  const count = chosen.value.length;
  if (count === 0) return a4("div", { ref: (element) => void (watch.current = element) });
  const mayAllow = chosen.value.every(({ approval_id: id }) => {
    const it = approvals.value.get(id);
    return it !== void 0 && !isGrave(it.card.risk) && !it.assessment.crisis_sensitive && it.choices.includes("once") && !needsOpening(it);
  });
  const all = async (choice, event) => {
    if (isBusy.value || !arming.admits(event) || choice === "once" && (!mayAllow || !isCurrent.value)) return;
    isBusy.value = true;
    let failed = 0;
    for (const it of chosen.value) if (await answer(it.approval_id, choice) !== null) failed += 1;
    isBusy.value = false;
    selected.value = /* @__PURE__ */ new Set();
    const done = `${many(count - failed, "card")} ${choice === "once" ? "allowed once" : "denied"}.`;
    say(failed === 0 ? done : `${done} ${many(failed, "card")} could not be answered.`);
  };
  return a4("div", { class: "batch", role: "group", "aria-label": "Selected cards", ref: (element) => void (watch.current = element), children: [
    a4("p", { children: [
      a4("strong", { children: count }),
      " selected"
    ] }),
    a4("button", { type: "button", class: "button", "aria-disabled": !armed.value || isBusy.value, onClick: (event) => void all("deny", event), children: [
      "Deny ",
      count
    ] }),
    a4(
      "button",
      {
        type: "button",
        class: "button",
        "aria-disabled": !armed.value || isBusy.value || !mayAllow || !isCurrent.value,
        title: mayAllow ? void 0 : "Only low and medium risk can be allowed together.",
        onClick: (event) => void all("once", event),
        children: [
          "Allow ",
          count,
          " once"
        ]
      }
    ),
    a4("button", { type: "button", class: "quiet", onClick: () => selected.value = /* @__PURE__ */ new Set(), children: "Clear" }),
    mayAllow ? null : a4("p", { class: "hint", children: "Only low and medium risk can be allowed together." })
  ] });
}

// src/views.tsx
var VIEWS = [
  { name: "inbox", label: "Inbox", icon: "inbox", isMain: true, component: Inbox },
  { name: "talk", label: "Talk", icon: "talk", isMain: true, component: lazy(async () => (await import("./talk-2BXX5U4H.js")).Talk) },
  { name: "history", label: "History", icon: "history", isMain: true, component: lazy(async () => (await import("./history-DRRDUAT2.js")).History) },
  { name: "insights", label: "Insights", icon: "insights", isMain: true, component: lazy(async () => (await import("./insights-UXV2VCXT.js")).Insights) },
  { name: "reviews", label: "Reviews", icon: "reviews", isMain: false, component: lazy(async () => (await import("./reviews-BZOBEIMG.js")).Reviews) },
  { name: "grants", label: "Grants", icon: "grants", isMain: false, component: lazy(async () => (await import("./grants-7LJ3J7EI.js")).Grants) },
  { name: "people", label: "People and keys", icon: "people", isMain: false, component: lazy(async () => (await import("./people-NPR6CPAC.js")).People) },
  { name: "rules", label: "Rules", icon: "rules", isMain: false, component: lazy(async () => (await import("./rules-YQ7S673H.js")).Rules) },
  { name: "ledger", label: "Ledger", icon: "ledger", isMain: false, component: lazy(async () => (await import("./ledger-S2SIFWAP.js")).Ledger) },
  { name: "settings", label: "Settings", icon: "settings", isMain: false, component: lazy(async () => (await import("./settings-TZFQ6HXH.js")).Settings) }
];
var ALSO = { "": "inbox", approvals: "inbox", questions: "inbox" };
function viewOf(name) {
  const wanted = ALSO[name] ?? name;
  return VIEWS.find((view) => view.name === wanted);
}

// src/views/signed_out.tsx
function SignedOut({ problem }) {
  const text2 = useSignal("");
  const refused = useSignal(null);
  const isBusy = useSignal(false);
  const send = async (event) => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    refused.value = await signInWith(text2.value);
    isBusy.value = false;
    if (refused.value === null) location.reload();
  };
  const said2 = refused.value ?? problem;
  return a4("main", { class: "alone", children: a4("section", { class: "sign-in", children: [
    a4(Mark, {}),
    a4("h1", { children: "Sign in to Countersign" }),
    said2 === null ? null : a4("p", { class: "problem", role: "alert", children: said2 }),
    a4("p", { children: [
      me.value === null ? "This browser is not signed in." : "Your session has ended.",
      " On the machine of the gateway, create a link and open it here:"
    ] }),
    a4(Commands, { lines: ["countersign keys login"] }),
    a4("form", { class: "sign-in-form", onSubmit: (event) => void send(event), children: [
      a4("label", { children: [
        "Or paste the link, its code, or your key",
        a4(
          "input",
          {
            type: "password",
            autocomplete: "off",
            spellcheck: false,
            value: text2.value,
            onInput: (event) => text2.value = event.currentTarget.value
          }
        )
      ] }),
      a4("button", { type: "submit", class: "button primary", "aria-disabled": isBusy.value, children: "Sign in" })
    ] }),
    a4("p", { class: "hint", children: "A link works once, for ten minutes, and signs in the owner of the key that created it. Keys of approvers, admins and viewers can sign in; the key itself is not stored here." })
  ] }) });
}

// src/app.tsx
function App({ problem }) {
  if (link.value === "signed_out") return a4(SignedOut, { problem: problem.value });
  if (me.value === null) {
    return link.value === "away" ? a4(NeverThere, {}) : a4(Loading, { what: "Connecting to the gateway" });
  }
  return a4(Frame, {});
}
function Frame() {
  const help = useSignal(false);
  const name = place.value.parts[0] ?? "";
  const view = viewOf(name);
  const visit = (view2) => () => {
    go(at(view2));
    return true;
  };
  useKeys({
    help: () => help.value = !help.value,
    inbox: visit("inbox"),
    talk: visit("talk"),
    history: visit("history")
  });
  return a4("div", { class: "frame", children: [
    a4("a", { class: "skip", href: "#main", onClick: skip, children: "Skip to main content" }),
    a4(Sidebar, { current: view, isMore: name === "more", onHelp: () => help.value = true }),
    a4("main", { id: "main", tabIndex: -1, children: [
      a4(Connection, {}),
      name === "more" ? a4(More, {}) : view === void 0 ? a4(Nowhere, {}) : a4(view.component, {})
    ] }),
    a4(TabBar, { current: view, isMore: name === "more" }),
    a4(Toast, {}),
    a4("p", { class: "unseen", role: "status", "aria-live": "polite", children: spoken.value }),
    help.value ? a4(Help, { onClose: () => help.value = false }) : null
  ] });
}
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
function Sidebar({ current: current3, isMore, onHelp }) {
  return a4("header", { class: "sidebar", children: [
    a4("a", { class: "brand", href: "#/", children: [
      a4(Mark, {}),
      a4("span", { children: "Countersign" })
    ] }),
    a4("nav", { "aria-label": "Views", children: VIEWS.map((view) => a4(NavLink, { view, isCurrent: !isMore && view === current3 }, view.name)) }),
    a4("div", { class: "sidebar-foot", children: [
      a4("button", { type: "button", class: "quiet", onClick: onHelp, children: [
        "Keyboard ",
        a4("kbd", { children: "?" })
      ] }),
      a4("p", { class: "who", children: [
        a4("strong", { children: me.value?.name }),
        a4("span", { children: me.value?.role })
      ] }),
      a4("button", { type: "button", class: "quiet", onClick: () => void signOut(), children: "Sign out" })
    ] })
  ] });
}
function NavLink({ view, isCurrent: isCurrent2 }) {
  const count = view.name === "inbox" ? waiting.value.length : 0;
  return a4("a", { href: view.name === "inbox" ? "#/" : at(view.name), "aria-current": isCurrent2 ? "page" : void 0, children: [
    a4(Icon, { name: view.icon }),
    a4("span", { children: view.label }),
    count > 0 ? a4("span", { class: "count", children: [
      count.toLocaleString(),
      a4("span", { class: "unseen", children: " waiting" })
    ] }) : null
  ] });
}
function TabBar({ current: current3, isMore }) {
  const main = VIEWS.filter((view) => view.isMain);
  return a4("nav", { class: "tabbar", "aria-label": "Views, short", children: [
    main.map((view) => a4(NavLink, { view, isCurrent: !isMore && view === current3 }, view.name)),
    a4("a", { href: "#/more", "aria-current": isMore || current3?.isMain === false ? "page" : void 0, children: [
      a4(Icon, { name: "more" }),
      a4("span", { children: "More" })
    ] })
  ] });
}
function More() {
  return a4("div", { class: "page", children: [
    a4("h1", { children: "More" }),
    a4("nav", { class: "more", "aria-label": "More views", children: VIEWS.filter((view) => !view.isMain).map((view) => a4(NavLink, { view, isCurrent: false }, view.name)) }),
    a4("p", { class: "who", children: [
      a4("strong", { children: me.value?.name }),
      " ",
      a4("span", { children: me.value?.role })
    ] }),
    a4("button", { type: "button", class: "button", onClick: () => void signOut(), children: "Sign out" })
  ] });
}
function Connection() {
  switch (link.value) {
    case "away":
      return a4("div", { class: "banner", role: "alert", children: [
        a4("p", { children: [
          a4("strong", { children: "Gateway offline, reconnecting." }),
          " ",
          lostAt.value === null ? "" : `Lost ${span(now.value - lostAt.value)} ago. `,
          "This page shows what was last known; nothing can be answered. If the gateway has stopped, start it with ",
          a4("code", { children: "countersign serve" }),
          "."
        ] }),
        a4("button", { type: "button", class: "button", onClick: retry, children: "Try now" })
      ] });
    case "catching_up":
      return a4("div", { class: "banner calm", role: "status", children: a4("p", { children: "Reconnected, loading what changed. Nothing can be allowed until this is done." }) });
    case "starting":
    case "live":
    case "signed_out":
      return null;
  }
}
function Toast() {
  return toast.value === null ? null : a4("div", { class: "toast", "aria-hidden": "true", children: toast.value });
}
function NeverThere() {
  return a4("main", { class: "alone", children: a4(Empty, { icon: "ledger", title: "Gateway offline, reconnecting", children: [
    a4("p", { children: [
      "The gateway does not respond. While it is stopped, calls that need a person do not run. Start it with ",
      a4("code", { children: "countersign serve" }),
      "; this page reconnects by itself."
    ] }),
    a4("button", { type: "button", class: "button", onClick: retry, children: "Try now" })
  ] }) });
}
function Nowhere() {
  return a4(Empty, { icon: "search", title: "Page not found", children: a4("p", { children: [
    "No view has this address. ",
    a4("a", { href: "#/", children: "Go to the inbox" })
  ] }) });
}

export {
  $,
  Q,
  A2 as A,
  T2 as T,
  w2 as w,
  r3 as r,
  y3 as y,
  O,
  x2 as x,
  useSignal,
  useSignalEffect,
  now,
  span,
  ago,
  moment,
  fullMoment,
  useKeys,
  ApiError,
  Unreachable,
  get,
  post,
  remove,
  segment,
  explain,
  thisDevice,
  ability,
  readDevices,
  turnOn,
  turnOff,
  isNotified,
  queueOf,
  follow,
  link,
  me,
  rows,
  approvals,
  questions,
  mayAnswer,
  waiting,
  listen,
  say,
  run,
  refresh,
  putQuestion,
  arrivals,
  signOut,
  a4 as a,
  Icon,
  Dialog,
  languageOf,
  Facts,
  Words,
  Code,
  Quote,
  Copy,
  Head,
  Empty,
  Loading,
  Problem,
  Commands,
  place,
  at,
  go,
  settle2 as settle,
  lift,
  TIERS,
  place2,
  many,
  patch,
  Difference,
  useLoaded,
  VERDICTS,
  ENDINGS,
  ended,
  took,
  brief,
  riskOf,
  short,
  callsOf,
  RiskWord,
  Why,
  CardView,
  Overrides,
  QuestionView,
  VirtualList,
  notifies,
  sounds,
  advances,
  signIn,
  hasCode,
  App
};
