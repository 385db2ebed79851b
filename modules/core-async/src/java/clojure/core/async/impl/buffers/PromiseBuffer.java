// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.buffers;

import clojure.core.async.impl.protocols.UnblockingBuffer;
import skein.bridge.TypedBuffer;
import skein.rt.Buffers;

/** A buffer that keeps its first value for ever, under the name of core.async's class. */
public final class PromiseBuffer extends Buffers.Promise implements TypedBuffer, UnblockingBuffer {}
