// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.buffers;

import clojure.core.async.impl.protocols.Buffer;

/** A buffer that is full at its size, under the name of core.async's class. */
public interface FixedBuffer extends Buffer {}
