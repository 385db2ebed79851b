// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.channels;

import clojure.core.async.impl.protocols.Channel;
import clojure.core.async.impl.protocols.ReadPort;
import clojure.core.async.impl.protocols.WritePort;

/** A channel of Skein's, under the name of core.async's class. It is an interface here: nobody else makes one. */
public interface ManyToManyChannel extends ReadPort, WritePort, Channel {}
